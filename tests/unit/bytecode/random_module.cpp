#include "tests/unit/bytecode/random_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace pp::bytecode {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // 0 .. bound-1; std's distributions differ between libraries.
  uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(engine_() % bound);
  }
  uint64_t Word() { return engine_(); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

enum class Slot { kEmpty, kReceiving, kFull, kSending };
enum class Stash { kEmpty, kHeld, kHalf };

class ProgramMaker {
 public:
  ProgramMaker(Random& random, const Module& module, Rank rank,
               RankProgram& program)
      : random_(random), module_(module), rank_(rank), program_(program) {
    slots_.resize(program.slots);
    stashes_.resize(program.stashes);
  }

  void Make(uint32_t steps) {
    for (uint32_t i = 0; i < steps; ++i) RandomStep();
    for (uint32_t i = 0; i < slots_.size(); ++i) EmptySlot(i);
    for (uint32_t i = 0; i < stashes_.size(); ++i) EmptyStash(i);
    for (uint32_t g = 0; g < module_.groups.size(); ++g) {
      const auto& ranks = module_.groups[g].ranks;
      if (std::ranges::find(ranks, rank_) == ranks.end()) continue;
      Emit(op::Reduce{GroupId{g}});
    }
    for (uint32_t c = 0; c < program_.chunks.size(); ++c) {
      Emit(op::Scale{ChunkId{c}});
      Emit(op::Update{ChunkId{c}});
    }
  }

 private:
  struct StashEntry {
    Stash state = Stash::kEmpty;
    ChunkId chunk;
    MicroBatch mb;
  };

  template <class Op>
  void Emit(const Op& op) {
    program_.code.push_back(op.Pack());
  }

  void RandomStep() {
    if (!slots_.empty()) StepSlot(random_.Below(program_.slots));
    if (!stashes_.empty()) StepStash(random_.Below(program_.stashes));
  }

  void StepSlot(uint32_t i) {
    const SlotId slot{i};
    const bool grouped = random_.Chance(20);
    switch (slots_[i]) {
      case Slot::kEmpty:
        if (grouped) Emit(op::GroupBegin{});
        Receive(i);
        if (grouped) Emit(op::GroupEnd{});
        return;
      case Slot::kFull:
        if (random_.Chance(50)) {
          Emit(op::Free{slot});
          slots_[i] = Slot::kEmpty;
          return;
        }
        Emit(op::Send{Peer(), Lane(), slot, AnyPayload(), Stage(), Mb()});
        slots_[i] = Slot::kSending;
        return;
      case Slot::kReceiving:
      case Slot::kSending:
        Emit(op::Wait{slot});
        slots_[i] = Slot::kFull;
        return;
    }
  }

  void Receive(uint32_t i) {
    Emit(op::Recv{Peer(), Lane(), SlotId{i}, AnyPayload(), Stage(), Mb()});
    slots_[i] = Slot::kReceiving;
  }

  void StepStash(uint32_t i) {
    StashEntry& entry = stashes_[i];
    const StashId id{i};
    if (entry.state == Stash::kHalf) {
      Emit(op::BackwardWeight{entry.chunk, entry.mb, id, {}, {}, {}});
      entry.state = Stash::kEmpty;
      return;
    }
    const bool forward = entry.state == Stash::kEmpty;
    if (forward) {
      entry.chunk =
          ChunkId{random_.Below(static_cast<uint32_t>(program_.chunks.size()))};
      entry.mb = Mb();
    }
    const uint32_t stage = program_.chunks[entry.chunk.value].stage.value;
    const bool first = stage == 0;
    const bool last = stage + 1 == module_.stages;
    const SlotId in = (forward ? first : last) ? kNoSlot : FullSlot();
    const SlotId out = (forward ? last : first) ? kNoSlot : EmptySlotBut(in);
    if (out != kNoSlot) slots_[out.value] = Slot::kFull;
    if (forward) {
      Emit(op::Forward{entry.chunk, entry.mb, in, out, id, {}});
      entry.state = Stash::kHeld;
    } else if (random_.Chance(50)) {
      Emit(op::Backward{entry.chunk, entry.mb, in, out, id, {}});
      entry.state = Stash::kEmpty;
    } else {
      Emit(op::BackwardInput{entry.chunk, entry.mb, in, out, id, {}});
      entry.state = Stash::kHalf;
    }
  }

  // A slot made full, whatever it was.
  SlotId FullSlot() {
    const uint32_t i = random_.Below(program_.slots);
    if (slots_[i] == Slot::kEmpty) Receive(i);
    if (slots_[i] != Slot::kFull) Emit(op::Wait{SlotId{i}});
    slots_[i] = Slot::kFull;
    return SlotId{i};
  }

  SlotId EmptySlotBut(SlotId other) {
    uint32_t i = random_.Below(program_.slots);
    if (i == other.value) i = (i + 1) % program_.slots;
    EmptySlot(i);
    return SlotId{i};
  }

  void EmptySlot(uint32_t i) {
    if (slots_[i] == Slot::kReceiving || slots_[i] == Slot::kSending) {
      Emit(op::Wait{SlotId{i}});
      slots_[i] = Slot::kFull;
    }
    if (slots_[i] == Slot::kFull) Emit(op::Free{SlotId{i}});
    slots_[i] = Slot::kEmpty;
  }

  void EmptyStash(uint32_t i) {
    while (stashes_[i].state != Stash::kEmpty) {
      StepStash(i);
      for (uint32_t slot = 0; slot < slots_.size(); ++slot) EmptySlot(slot);
    }
  }

  Rank Peer() {
    const uint32_t step = 1 + random_.Below(module_.ranks() - 1);
    return Rank{(rank_.value + step) % module_.ranks()};
  }
  LaneId Lane() { return LaneId{random_.Below(module_.lanes)}; }
  StageId Stage() { return StageId{random_.Below(module_.stages)}; }
  MicroBatch Mb() { return MicroBatch{random_.Below(module_.micro_batches)}; }
  Payload AnyPayload() { return static_cast<Payload>(random_.Below(2)); }

  Random& random_;
  const Module& module_;
  const Rank rank_;
  RankProgram& program_;
  std::vector<Slot> slots_;
  std::vector<StashEntry> stashes_;
};

std::string AnyName(Random& random) {
  static const std::vector<std::string> kNames = {"",
                                                  "steady",
                                                  "a b",
                                                  "one_f_one_b.sched",
                                                  "-dash",
                                                  "x//y",
                                                  "dir/f.sched",
                                                  "q\"uote\\",
                                                  "new\nline\ttab\x01",
                                                  "gr\xC3\xBCn",
                                                  "semi;colon:[1]",
                                                  "#3"};
  return kNames[random.Below(static_cast<uint32_t>(kNames.size()))];
}

double AnyNumber(Random& random) {
  switch (random.Below(4)) {
    case 0:
      return 0;
    case 1:
      return random.Below(1000);
    case 2:
      return 1.0 / (1 + random.Below(1000));
    default:
      return -1e300 * (1 + random.Below(9));
  }
}

void FillFacts(Random& random, Module& m) {
#define PP_FACT_TEXT(field) m.facts.field = AnyName(random);
#define PP_FACT_NUMBER(field) m.facts.field = AnyNumber(random);
#include "runtime/bytecode/facts_fields.def"
  for (uint32_t i = random.Below(4); i > 0; --i) {
    m.facts.params.emplace_back(AnyName(random),
                                static_cast<int64_t>(random.Word()));
  }
  if (!random.Chance(50)) return;
  for (uint32_t r = 0; r < m.ranks(); ++r) {
    m.facts.peak_activations.push_back(random.Below(100));
  }
}

void FillGroups(Random& random, Module& m) {
  for (uint32_t stage = 0; stage < m.stages; ++stage) {
    Group group{GroupKind::kReplicas, StageId{stage}, {}};
    for (uint32_t r = m.ranks(); r-- > 0;) {
      const auto& chunks = m.programs[r].chunks;
      const bool holds = std::ranges::find(chunks, StageId{stage},
                                           &ChunkInfo::stage) != chunks.end();
      if (holds) group.ranks.push_back(Rank{r});
    }
    if (!group.ranks.empty() && random.Chance(50)) m.groups.push_back(group);
  }
}

void FillDebug(Random& random, const Module& m, RankProgram& program) {
  if (random.Chance(30)) return;
  const auto sites = static_cast<uint32_t>(m.sites.size());
  for (size_t pc = 0; pc < program.code.size(); ++pc) {
    const bool none = sites == 0 || random.Chance(20);
    program.debug.push_back(
        {none ? kNoSite : random.Below(sites),
         random.Chance(50) ? 0 : static_cast<uint32_t>(random.Word())});
  }
}

}  // namespace

Module RandomModule(uint64_t seed) {
  Random random(seed);
  Module m;
  const uint32_t ranks = 1 + random.Below(4);
  m.micro_batches = 1 + random.Below(random.Chance(10) ? 1u << 30 : 8);
  m.stages = ranks == 1 ? 1 : 1 + random.Below(6);
  m.replicas = 1 + random.Below(2);
  m.lanes = 1 + random.Below(3);
  for (uint32_t i = random.Below(6); i > 0; --i) {
    m.sites.push_back({AnyName(random), random.Below(3), random.Below(3),
                       random.Chance(50) ? "" : AnyName(random)});
  }
  m.programs.resize(ranks);
  for (RankProgram& program : m.programs) {
    for (uint32_t i = 1 + random.Below(3); i > 0; --i) {
      program.chunks.push_back(
          {StageId{random.Below(m.stages)}, random.Below(m.replicas)});
    }
    program.slots = ranks == 1 ? 0 : 2 + random.Below(3);
    program.stashes = 1 + random.Below(3);
  }
  FillGroups(random, m);
  for (uint32_t r = 0; r < ranks; ++r) {
    RankProgram& program = m.programs[r];
    ProgramMaker(random, m, Rank{r}, program).Make(5 + random.Below(20));
    FillDebug(random, m, program);
  }
  FillFacts(random, m);
  return m;
}

}  // namespace pp::bytecode
