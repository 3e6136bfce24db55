#include "tests/support/programs.h"

#include <algorithm>

namespace pp::test {
namespace {

using namespace pp::bytecode;  // NOLINT: every line here names instructions

constexpr LaneId kActLane{0};
constexpr LaneId kGradLane{1};

// Writes the program of one rank. Sends are waited for at the end.
class RankBuilder {
 public:
  RankBuilder(uint32_t ranks, uint32_t micro_batches, uint32_t rank)
      : ranks_(ranks), micro_batches_(micro_batches), rank_(rank) {
    program_.chunks = {{StageId(rank), 0}};
    slot_of_.resize(size_t{4} * micro_batches, kNoSlot);
    stash_of_.resize(micro_batches);
  }

  void Add(const Op& op, uint32_t line) {
    line_ = line;
    const MicroBatch mb(op.mb);
    switch (op.kind) {
      case 'F':
        return Forward(mb);
      case 'B':
      case 'I':
        return Backward(op.kind, mb);
      case 'W':
        Emit(op::BackwardWeight{ChunkId(0), mb, StashId(stash_of_[op.mb])});
        return Release(stash_of_[op.mb]);
    }
  }

  RankProgram Finish() {
    line_ = 0;
    for (const SlotId slot : in_flight_) {
      Emit(op::Wait{slot});
      Emit(op::Free{slot});
    }
    Emit(op::Scale{ChunkId(0)});
    Emit(op::Update{ChunkId(0)});
    program_.stashes = static_cast<uint32_t>(stash_used_.size());
    return std::move(program_);
  }

 private:
  bool first() const { return rank_ == 0; }
  bool last() const { return rank_ + 1 == ranks_; }
  // Numbered in order of first use. Kinds: act in, act out, grad in, grad out.
  SlotId SlotOf(uint32_t kind, MicroBatch mb) {
    SlotId& slot = slot_of_[size_t{kind} * micro_batches_ + mb.value];
    if (slot == kNoSlot) slot = SlotId(program_.slots++);
    return slot;
  }

  template <class Typed>
  void Emit(const Typed& typed) {
    program_.code.push_back(typed.Pack());
    program_.debug.push_back(
        {line_ == 0 ? kNoSite : rank_, line_ == 0 ? 0 : line_ - 1});
  }

  SlotId Receive(SlotId slot, uint32_t peer, Payload payload, uint32_t stage,
                 MicroBatch mb) {
    const LaneId lane = payload == Payload::kAct ? kActLane : kGradLane;
    Emit(op::Recv{Rank(peer), lane, slot, payload, StageId(stage), mb});
    Emit(op::Wait{slot});
    return slot;
  }

  void Send(SlotId slot, uint32_t peer, Payload payload, MicroBatch mb) {
    const LaneId lane = payload == Payload::kAct ? kActLane : kGradLane;
    Emit(op::Send{Rank(peer), lane, slot, payload, StageId(rank_), mb});
    in_flight_.push_back(slot);
  }

  void Forward(MicroBatch mb) {
    SlotId in = kNoSlot, out = kNoSlot;
    if (!first()) {
      in = Receive(SlotOf(0, mb), rank_ - 1, Payload::kAct, rank_ - 1, mb);
    }
    if (!last()) out = SlotOf(1, mb);
    stash_of_[mb.value] = Take();
    Emit(op::Forward{ChunkId(0), mb, in, out, StashId(stash_of_[mb.value])});
    if (!first()) Emit(op::Free{in});
    if (!last()) Send(out, rank_ + 1, Payload::kAct, mb);
  }

  void Backward(char kind, MicroBatch mb) {
    SlotId in = kNoSlot, out = kNoSlot;
    if (!last()) {
      in = Receive(SlotOf(2, mb), rank_ + 1, Payload::kGrad, rank_ + 1, mb);
    }
    if (!first()) out = SlotOf(3, mb);
    const StashId stash(stash_of_[mb.value]);
    if (kind == 'B') {
      Emit(op::Backward{ChunkId(0), mb, in, out, stash});
      Release(stash.value);
    } else {
      Emit(op::BackwardInput{ChunkId(0), mb, in, out, stash});
    }
    if (!last()) Emit(op::Free{in});
    if (!first()) Send(out, rank_ - 1, Payload::kGrad, mb);
  }

  uint32_t Take() {
    const auto free = std::find(stash_used_.begin(), stash_used_.end(), false);
    const auto index = static_cast<uint32_t>(free - stash_used_.begin());
    if (free == stash_used_.end()) {
      stash_used_.push_back(true);
    } else {
      *free = true;
    }
    return index;
  }
  void Release(uint32_t stash) { stash_used_[stash] = false; }

  uint32_t ranks_, micro_batches_, rank_;
  uint32_t line_ = 0;
  RankProgram program_;
  std::vector<SlotId> slot_of_;     // by kind and micro-batch
  std::vector<uint32_t> stash_of_;  // by micro-batch
  std::vector<bool> stash_used_;
  std::vector<SlotId> in_flight_;
};

}  // namespace

Module BuildModule(uint32_t ranks, uint32_t micro_batches,
                   const OrderFn& order) {
  Module module;
  module.micro_batches = micro_batches;
  module.stages = ranks;
  module.lanes = 2;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    module.sites.push_back({"test.sched", 10 + rank, 5, "steady"});
    RankBuilder builder(ranks, micro_batches, rank);
    uint32_t line = 0;
    for (const Op& op : order(rank)) builder.Add(op, ++line);
    module.programs.push_back(builder.Finish());
    module.facts.peak_activations.push_back(module.programs.back().stashes);
  }
  module.facts.params = {{"P", ranks}, {"M", micro_batches}};
  module.facts.source_file = "test.sched";
  module.facts.costs = "F=1,B=2,I=1,W=1,comm=0";
  module.facts.placement = "linear";
  // GPipe and 1F1B with these costs; a test of another order sets its own.
  const double p = ranks, m = micro_batches;
  module.facts.makespan = 3 * (m + p - 1);
  module.facts.bubble_fraction = (p - 1) / (m + p - 1);
  module.facts.bubble_overhead = (p - 1) / m;
  module.facts.bubble_longest_stage = (p - 1) / (m + p - 1);
  return module;
}

Module GPipe(uint32_t ranks, uint32_t micro_batches) {
  Module module = BuildModule(ranks, micro_batches, [&](uint32_t) {
    std::vector<Op> ops;
    for (uint32_t m = 0; m < micro_batches; ++m) ops.push_back({'F', m});
    for (uint32_t m = 0; m < micro_batches; ++m) ops.push_back({'B', m});
    return ops;
  });
  module.facts.schedule = "gpipe";
  return module;
}

Module OneFOneB(uint32_t ranks, uint32_t micro_batches) {
  Module module = BuildModule(ranks, micro_batches, [&](uint32_t rank) {
    const uint32_t warmup = std::min(ranks - 1 - rank, micro_batches);
    std::vector<Op> ops;
    for (uint32_t m = 0; m < warmup; ++m) ops.push_back({'F', m});
    for (uint32_t m = warmup; m < micro_batches; ++m) {
      ops.push_back({'F', m});
      ops.push_back({'B', m - warmup});
    }
    for (uint32_t m = micro_batches - warmup; m < micro_batches; ++m) {
      ops.push_back({'B', m});
    }
    return ops;
  });
  module.facts.schedule = "one_f_one_b";
  return module;
}

Module SplitGPipe(uint32_t ranks, uint32_t micro_batches) {
  Module module = BuildModule(ranks, micro_batches, [&](uint32_t) {
    std::vector<Op> ops;
    for (const char kind : {'F', 'I', 'W'}) {
      for (uint32_t m = 0; m < micro_batches; ++m) ops.push_back({kind, m});
    }
    return ops;
  });
  module.facts.schedule = "split_gpipe";
  return module;
}

Module LostMessage(uint32_t ranks, uint32_t micro_batches) {
  Module module = GPipe(ranks, micro_batches);
  module.facts.schedule = "lost";
  RankProgram& program = module.programs[0];
  const auto send = std::find_if(
      program.code.begin(), program.code.end(),
      [](const Instr& instr) { return instr.op == Opcode::kSend; });
  const Instr dropped[] = {*send, op::Wait{op::Send::Of(*send).slot}.Pack()};
  const auto drop = [&](const Instr& instr) {
    return instr == dropped[0] || instr == dropped[1];
  };
  for (size_t i = program.code.size(); i-- > 0;) {
    if (!drop(program.code[i])) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    program.code.erase(program.code.begin() + at);
    program.debug.erase(program.debug.begin() + at);
  }
  return module;
}

}  // namespace pp::test
