#include "tests/support/field_notation.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "runtime/bytecode/instr.h"

namespace pp::testing {
namespace {

using bytecode::Instr;
using bytecode::Module;
using bytecode::Payload;
namespace op = bytecode::op;

using Key = std::tuple<Payload, uint32_t, uint32_t>;  // ..., stage, mb

struct Word {
  std::string verb;  // "F", "SF", "wRB", ...
  std::optional<uint32_t> stage;
  uint32_t number = 0;  // micro-batch, chunk or group
  uint32_t peer = 0;
};

Word ParseWord(const std::string& text) {
  Word word;
  size_t i = 0;
  while (i < text.size() && !isdigit(text[i])) word.verb += text[i++];
  const auto number = [&] {
    uint32_t n = 0;
    while (i < text.size() && isdigit(text[i])) n = n * 10 + (text[i++] - '0');
    return n;
  };
  word.number = number();
  if (i < text.size() && text[i] == '.') {
    ++i;
    word.stage = word.number;
    word.number = number();
  }
  if (i < text.size()) {
    ++i;  // '>' or '<'
    word.peer = number();
  }
  return word;
}

class RankBuilder {
 public:
  RankBuilder(Module& module, uint32_t rank, std::optional<uint32_t> lane)
      : module_(module),
        rank_(rank),
        program_(module.programs[rank]),
        lane_(lane) {}

  void Build(const std::string& text) {
    std::istringstream words(text);
    bool updated = false;
    for (std::string word; words >> word;) {
      if (word == "[") {
        Put(op::GroupBegin{}.Pack());
      } else if (word == "]") {
        Put(op::GroupEnd{}.Pack());
      } else {
        updated = updated || word[0] == 'U';
        Do(ParseWord(word));
      }
    }
    if (!updated) EndOfStep();
    while (!sent_.empty()) Release(*sent_.begin());
    while (!slots_.empty()) Drop(slots_.begin()->first);
  }

 private:
  void Put(const Instr& instr) { program_.code.push_back(instr); }

  uint32_t ChunkOf(const Word& word) const {
    for (uint32_t c = 0; word.stage && c < program_.chunks.size(); ++c) {
      if (program_.chunks[c].stage.value == *word.stage) return c;
    }
    return 0;
  }

  SlotId NewSlot(const Key& key) {
    uint32_t slot = 0;
    while (std::ranges::any_of(
        slots_, [&](const auto& s) { return s.second == slot; })) {
      ++slot;
    }
    slots_[key] = slot;
    program_.slots = std::max(program_.slots, slot + 1);
    return SlotId(slot);
  }

  void Do(const Word& word) {
    const std::string& v = word.verb;
    if (v == "F" || v == "B" || v == "I" || v == "W") return Compute(word);
    if (v == "S") return Put(op::Scale{ChunkId(word.number)}.Pack());
    if (v == "A") return Put(op::Reduce{GroupId(word.number)}.Pack());
    if (v == "U") return Put(op::Update{ChunkId(word.number)}.Pack());
    const bool waits = v[0] == 'w';
    const bool sends = v[waits] == 'S';
    const Payload payload =
        v[waits + 1] == 'F' ? Payload::kAct : Payload::kGrad;
    const uint32_t own = program_.chunks[0].stage.value;
    const uint32_t from = payload == Payload::kAct ? own - 1 : own + 1;
    const uint32_t stage = word.stage ? *word.stage : sends ? own : from;
    const Key key{payload, stage, word.number};
    if (waits) {
      WaitFor(key);
    } else {
      Transfer(word, key, sends);
    }
  }

  void Transfer(const Word& word, const Key& key, bool sends) {
    const auto& [payload, stage, mb] = key;
    const LaneId lane(lane_.value_or(static_cast<uint32_t>(payload)));
    module_.lanes = std::max(module_.lanes, lane.value + 1);
    const Rank peer(word.peer);
    if (sends) {
      Put(op::Send{peer, lane, SlotId(slots_.at(key)), payload, StageId(stage),
                   MicroBatch(mb)}
              .Pack());
      sent_.push_back(key);
    } else {
      Put(op::Recv{peer, lane, NewSlot(key), payload, StageId(stage),
                   MicroBatch(mb)}
              .Pack());
    }
    waiting_.push_back(key);
  }

  void WaitFor(const Key& key) {
    if (std::erase(waiting_, key) > 0) {
      Put(op::Wait{SlotId(slots_.at(key))}.Pack());
    }
  }

  SlotId Input(bool has, const Key& key) {
    if (!has) return bytecode::kNoSlot;
    if (!slots_.contains(key)) return SlotId(0);  // for the verifier to say
    WaitFor(key);
    return SlotId(slots_.at(key));
  }

  void Release(const Key& key) {  // of what was sent
    const Key copy = key;
    std::erase(sent_, copy);
    Drop(copy);
  }
  void Drop(const Key& key) {
    const Key copy = key;
    WaitFor(copy);
    Put(op::Free{SlotId(slots_.at(copy))}.Pack());
    slots_.erase(copy);
  }

  StashId Stash(uint32_t chunk, uint32_t mb, bool make) {
    if (make) {
      uint32_t s = 0;
      while (std::ranges::any_of(
          stashes_, [&](const auto& h) { return h.second == s; })) {
        ++s;
      }
      stashes_[{chunk, mb}] = s;
      program_.stashes = std::max(program_.stashes, s + 1);
    }
    return StashId(stashes_[{chunk, mb}]);
  }

  void Compute(const Word& word) {
    const uint32_t c = ChunkOf(word), mb = word.number;
    const uint32_t s = program_.chunks[c].stage.value;
    const bool first = s == 0, last = s + 1 == module_.stages;
    const ChunkId chunk(c);
    const MicroBatch m(mb);
    if (word.verb == "W") {
      Put(op::BackwardWeight{chunk, m, Stash(c, mb, false)}.Pack());
      stashes_.erase({c, mb});
      return;
    }
    const bool forward = word.verb == "F";
    const Key in_key = forward ? Key{Payload::kAct, s - 1, mb}
                               : Key{Payload::kGrad, s + 1, mb};
    const bool reads = forward ? !first : !last;
    const bool writes = forward ? !last : !first;
    const SlotId in = Input(reads, in_key);
    const SlotId out =
        writes ? NewSlot({forward ? Payload::kAct : Payload::kGrad, s, mb})
               : bytecode::kNoSlot;
    const StashId stash = Stash(c, mb, forward);
    if (forward) {
      Put(op::Forward{chunk, m, in, out, stash}.Pack());
    } else if (word.verb == "B") {
      Put(op::Backward{chunk, m, in, out, stash}.Pack());
      stashes_.erase({c, mb});
    } else {
      Put(op::BackwardInput{chunk, m, in, out, stash}.Pack());
    }
    if (reads && slots_.contains(in_key)) Drop(in_key);
  }

  void EndOfStep() {
    for (uint32_t c = 0; c < program_.chunks.size(); ++c) {
      Put(op::Scale{ChunkId(c)}.Pack());
    }
    for (uint32_t g = 0; g < module_.groups.size(); ++g) {
      const auto& ranks = module_.groups[g].ranks;
      if (std::ranges::find(ranks, Rank(rank_)) != ranks.end()) {
        Put(op::Reduce{GroupId(g)}.Pack());
      }
    }
    for (uint32_t c = 0; c < program_.chunks.size(); ++c) {
      Put(op::Update{ChunkId(c)}.Pack());
    }
  }

  Module& module_;
  uint32_t rank_;
  bytecode::RankProgram& program_;
  std::optional<uint32_t> lane_;
  std::map<Key, uint32_t> slots_;
  std::vector<Key> waiting_, sent_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> stashes_;
};

}  // namespace

Module FromNotation(const std::vector<std::string>& ranks, Notation notation) {
  Module module;
  module.micro_batches = notation.micro_batches;
  module.replicas = notation.replicas;
  module.groups = notation.groups;
  module.programs.resize(ranks.size());
  if (notation.chunks.empty()) {
    for (uint32_t r = 0; r < ranks.size(); ++r) notation.chunks.push_back({r});
  }
  std::map<uint32_t, uint32_t> replicas;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    for (const uint32_t stage : notation.chunks[r]) {
      module.programs[r].chunks.push_back({StageId(stage), replicas[stage]++});
      module.stages = std::max(module.stages, stage + 1);
    }
  }
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    RankBuilder(module, r, notation.lane).Build(ranks[r]);
  }
  return module;
}

}  // namespace pp::testing
