#include "compiler/ir/cost_text.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/quantity.h"
#include "runtime/base/edit_distance.h"

namespace pp::ir {
namespace {

using Fault = tl::unexpected<TextFault>;
using Outcome = std::optional<TextFault>;  // nullopt: all is well

constexpr uint32_t kMaxIndex = 65535;  // of a stage or rank

constexpr size_t kComm = kOpKinds;  // the rows after the operations
constexpr size_t kMessage = kComm + 1;
constexpr size_t kPair = kMessage + 1;
constexpr std::array<std::string_view, 7> kCostKeys = {
    "F", "B", "I", "W", "comm", "message", "pair"};

enum MemoryKey : size_t {
  kAct,
  kAfterI,
  kWeights,
  kGradients,
  kOptimizer,
  kLimit
};
constexpr std::array<std::string_view, 6> kMemoryKeys = {
    "act", "act.after_I", "weights", "gradients", "optimizer", "limit"};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c >= '0' && c <= '9') || c == '.';
}

// `comm.0.1` is key 4 with indices 0 and 1.
struct Key {
  size_t row = 0;
  std::string text;  // as written
  std::vector<uint32_t> indices;
};

// What the two notations share: entries `KEY = VALUE`, each key once.
class EntryReader {
 public:
  EntryReader(std::string_view text, const char* what,
              std::span<const std::string_view> keys)
      : in_{text}, what_(what), keys_(keys) {}
  virtual ~EntryReader() = default;

  Outcome ReadAll() {
    in_.SkipBlanks();
    while (!in_.AtEnd()) {
      if (Outcome fault = Entry()) return fault;
      const size_t end = in_.at;
      in_.SkipBlanks();
      if (in_.AtEnd()) return std::nullopt;
      if (!in_.Take(',')) {
        if (in_.at == end) return TextFault{end, "expected `,`"};
        continue;
      }
      in_.SkipBlanks();
      if (in_.AtEnd()) {
        return TextFault{in_.at, "expected another `NAME=NUMBER` after `,`"};
      }
    }
    return std::nullopt;
  }

 protected:
  virtual Outcome Value(const Key& key, Scanner& in) = 0;

 private:
  Outcome Entry() {
    const size_t begin = in_.at;
    auto key = ReadKey();
    if (!key) return key.error();
    if (!given_.insert({key->text, begin}).second) {
      return TextFault{begin, fmt::format("`{}` is given twice", key->text)};
    }
    in_.SkipBlanks();
    if (!in_.Take('=')) {
      return TextFault{in_.at,
                       fmt::format("expected `=` after `{}`", key->text)};
    }
    in_.SkipBlanks();
    return Value(*key, in_);
  }

  tl::expected<Key, TextFault> ReadKey() {
    const size_t begin = in_.at;
    while (IsWord(in_.Peek())) ++in_.at;
    if (in_.at == begin) {
      while (!in_.AtEnd() && !IsBlank(in_.Peek()) && in_.Peek() != '=' &&
             in_.Peek() != ',') {
        ++in_.at;
      }
    }
    Key key;
    key.text = std::string(in_.text.substr(begin, in_.at - begin));
    std::string_view name = key.text;
    if (name.empty()) {
      return Fault({begin, fmt::format("expected one of {}", Known())});
    }
    TakeIndices(name, key.indices);
    for (; key.row < keys_.size(); ++key.row) {
      if (keys_[key.row] == name) return key;
    }
    return Fault({begin, fmt::format("`{}` has no {}; known are {}{}", name,
                                     what_, Known(), Meant(name))});
  }

  // One letter is near every other: only its case may be wrong.
  std::string Meant(std::string_view name) const {
    if (name.size() > 1) return Suggestion(name, keys_);
    for (std::string_view key : keys_) {
      if (key.size() != 1 || (key[0] | 0x20) != name[0]) continue;
      return fmt::format(", did you mean `{}`?", key);
    }
    return "";
  }

  // The numbers at the end: `comm.0.1`.
  static void TakeIndices(std::string_view& name,
                          std::vector<uint32_t>& indices) {
    for (;;) {
      const size_t dot = name.rfind('.');
      if (dot == std::string_view::npos || dot + 1 == name.size() ||
          name.find_first_not_of("0123456789", dot + 1) !=
              std::string_view::npos) {
        return;
      }
      uint32_t index = 0;
      for (char c : name.substr(dot + 1)) {
        index = std::min(index * 10 + static_cast<uint32_t>(c - '0'),
                         kMaxIndex + 1);
      }
      indices.insert(indices.begin(), index);
      name = name.substr(0, dot);
    }
  }

  std::string Known() const {
    std::string known;
    for (std::string_view key : keys_) {
      known += (known.empty() ? "" : ", ") + std::string(key);
    }
    return known;
  }

  Scanner in_;
  const char* what_;
  std::span<const std::string_view> keys_;
  std::map<std::string, size_t> given_;
};

Outcome CheckIndices(const Key& key, size_t at, size_t expected,
                     const char* meaning) {
  if (!key.indices.empty() && key.indices.size() != expected) {
    return TextFault{at, expected == 0
                             ? fmt::format("`{}` takes no number", key.text)
                             : fmt::format("`{}`: {}", key.text, meaning)};
  }
  for (uint32_t index : key.indices) {
    if (index <= kMaxIndex) continue;
    return TextFault{
        at, fmt::format("`{}`: the largest number is {}", key.text, kMaxIndex)};
  }
  return std::nullopt;
}

class CostReader final : public EntryReader {
 public:
  explicit CostReader(std::string_view text)
      : EntryReader(text, "cost", kCostKeys), end_(text.size()) {}

  tl::expected<CostModel, TextFault> Read() {
    if (Outcome fault = ReadAll()) return Fault(*fault);
    model_.timed = timed_.value_or(false);
    SetKinds();
    if (Outcome fault = Missing()) return Fault(*fault);
    SetStages();
    if (Outcome fault = SetTransfers()) return Fault(*fault);
    return std::move(model_);
  }

 private:
  Outcome Value(const Key& key, Scanner& in) override {
    const size_t begin = in.at;
    if (key.row == kMessage) return Message(key, in);
    if (key.row == kComm) return Transfer(key, in);
    if (Outcome fault = CheckIndices(key, begin, key.row == kPair ? 0 : 1,
                                     "one number: the stage")) {
      return fault;
    }
    auto time = ReadTime(in);
    if (!time) return time.error();
    if (time->ticks == 0) {
      return TextFault{begin,
                       fmt::format("the cost of `{}` is 0, but an operation "
                                   "takes time",
                                   key.text)};
    }
    if (Outcome fault = OneUnit(key, begin, time->has_unit)) return fault;
    if (key.row == kPair) {
      model_.pair = time->ticks;
    } else if (key.indices.empty()) {
      base_[key.row] = time->ticks;
    } else {
      by_stage_[key.indices[0]][key.row] = time->ticks;
    }
    return std::nullopt;
  }

  Outcome Message(const Key& key, Scanner& in) {
    if (Outcome fault = CheckIndices(key, in.at, 0, "")) return fault;
    auto bytes = ReadSize(in);
    if (!bytes) return bytes.error();
    model_.message = *bytes;
    return std::nullopt;
  }

  Outcome Transfer(const Key& key, Scanner& in) {
    const size_t begin = in.at;
    if (Outcome fault = CheckIndices(key, begin, 2,
                                     "two numbers: from which rank, to which"))
      return fault;
    auto read = ReadWire(in);
    if (!read) return read.error();
    const bool nothing = read->wire == Wire{};  // 0 is 0 in any unit
    if (!nothing || read->has_unit) {
      if (Outcome fault = OneUnit(key, begin, read->has_unit)) return fault;
    }
    if (read->wire.per_mib != 0) by_size_at_ = begin;
    if (key.indices.empty()) {
      model_.comm_wire = read->wire;
    } else {
      model_.edge_wire[{key.indices[0], key.indices[1]}] = read->wire;
    }
    return std::nullopt;
  }

  Outcome OneUnit(const Key& key, size_t at, bool has_unit) {
    if (!timed_) {
      timed_ = has_unit;
      first_ = key.text;
    }
    if (*timed_ == has_unit) return std::nullopt;
    return TextFault{
        at, fmt::format("`{}` has {} unit of time, but `{}` has {}: give all "
                        "costs in units of time, or none",
                        key.text, has_unit ? "a" : "no", first_,
                        has_unit ? "none" : "one")};
  }

  // Defaults; in units of time there is none but B = I + W.
  void SetKinds() {
    const auto row = [](OpKind kind) { return static_cast<size_t>(kind); };
    for (size_t kind = 0; kind < kOpKinds; ++kind) {
      model_.known[kind] = !model_.timed || base_[kind];
      if (base_[kind]) model_.op[kind] = *base_[kind];
      if (!model_.known[kind]) model_.op[kind] = 0;
    }
    const size_t b = row(OpKind::kB);
    if (base_[b]) return;
    model_.known[b] =
        model_.known[row(OpKind::kI)] && model_.known[row(OpKind::kW)];
    model_.op[b] =
        model_.known[b] ? model_.Of(OpKind::kI) + model_.Of(OpKind::kW) : 0;
  }

  Outcome Missing() const {
    if (!model_.timed) return std::nullopt;
    for (OpKind kind : {OpKind::kF, OpKind::kB}) {
      if (model_.known[static_cast<size_t>(kind)]) continue;
      return TextFault{
          end_, fmt::format("`{}` is missing: in units of time there is no "
                            "default{}",
                            kOpNames[static_cast<size_t>(kind)],
                            kind == OpKind::kB ? " (but B = I + W)" : "")};
    }
    return std::nullopt;
  }

  void SetStages() {
    for (const auto& [stage, costs] : by_stage_) {
      model_.stage.resize(stage + 1, model_.op);
      CostModel::OpCosts& op = model_.stage[stage];
      for (size_t kind = 0; kind < kOpKinds; ++kind) {
        if (costs[kind]) op[kind] = *costs[kind];
      }
      const size_t b = static_cast<size_t>(OpKind::kB);
      const size_t i = static_cast<size_t>(OpKind::kI);
      const size_t w = static_cast<size_t>(OpKind::kW);
      if (!costs[b] && !base_[b] && (costs[i] || costs[w]))
        op[b] = op[i] + op[w];
    }
  }

  Outcome SetTransfers() {
    if (by_size_at_ && model_.message == 0) {
      return TextFault{*by_size_at_,
                       "a time by size needs the size: `message=4MiB`"};
    }
    model_.comm = TimeOf(model_.comm_wire);
    for (const auto& [ends, wire] : model_.edge_wire) {
      model_.edge[ends] = TimeOf(wire);
    }
    if (by_size_at_ &&
        model_.LargestTransfer() > kMaxCostUnits * kTicksPerUnit) {
      return TextFault{*by_size_at_,
                       fmt::format("a message of {} takes more than {} ms",
                                   PrintBytes(model_.message), kMaxCostUnits)};
    }
    return std::nullopt;
  }

  Ticks TimeOf(const Wire& wire) const {
    const __int128 moved =
        (static_cast<__int128>(wire.per_mib) * model_.message + kMiB - 1) /
        kMiB;
    constexpr __int128 kMost = 2 * kMaxCostUnits * kTicksPerUnit;
    return wire.latency + static_cast<Ticks>(std::min(moved, kMost));
  }

  CostModel model_;
  size_t end_;
  std::array<std::optional<Ticks>, kOpKinds> base_;
  std::map<uint32_t, std::array<std::optional<Ticks>, kOpKinds>> by_stage_;
  std::optional<bool> timed_;
  std::string first_;  // the entry that decided timed_
  std::optional<size_t> by_size_at_;
};

class MemoryReader final : public EntryReader {
 public:
  explicit MemoryReader(std::string_view text)
      : EntryReader(text, "size", kMemoryKeys) {}

  tl::expected<MemoryModel, TextFault> Read() {
    if (Outcome fault = ReadAll()) return Fault(*fault);
    MemoryModel model;
    model.limit = base_[kLimit];
    if (auto fault = Fill(base_, {}, true, model.each)) return Fault(*fault);
    for (const auto& [stage, sizes] : by_stage_) {
      model.stage.resize(stage + 1, model.each);
      if (auto fault = Fill(sizes, model.each, false, model.stage[stage])) {
        return Fault(*fault);
      }
    }
    return model;
  }

 private:
  using Sizes = std::array<std::optional<Bytes>, kMemoryKeys.size()>;

  Outcome Value(const Key& key, Scanner& in) override {
    const size_t begin = in.at;
    if (Outcome fault = CheckIndices(key, begin, key.row == kLimit ? 0 : 1,
                                     "one number: the stage")) {
      return fault;
    }
    auto bytes = ReadSize(in);
    if (!bytes) return bytes.error();
    (key.indices.empty() ? base_ : by_stage_[key.indices[0]])[key.row] = *bytes;
    if (key.row == kAfterI) after_i_at_ = begin;
    return std::nullopt;
  }

  Outcome Fill(const Sizes& sizes, const StageMemory& each, bool base,
               StageMemory& out) const {
    out = each;
    out.act = sizes[kAct].value_or(each.act);
    out.after_i =
        sizes[kAfterI].value_or(base ? out.act : AfterIDefault(out.act, each));
    out.weights = sizes[kWeights].value_or(each.weights);
    out.gradients = sizes[kGradients].value_or(each.gradients);
    out.optimizer = sizes[kOptimizer].value_or(each.optimizer);
    if (out.after_i <= out.act) return std::nullopt;
    return TextFault{after_i_at_,
                     fmt::format("what stays after I, {}, is more than the "
                                 "activations, {}",
                                 PrintBytes(out.after_i), PrintBytes(out.act))};
  }

  Sizes base_;
  std::map<uint32_t, Sizes> by_stage_;
  size_t after_i_at_ = 0;
};

Status AsUsage(const char* what, std::string_view text,
               const TextFault& fault) {
  return UsageError(fmt::format("{} `{}`, character {}: {}", what, text,
                                fault.at + 1, fault.what));
}

}  // namespace

tl::expected<CostModel, TextFault> ReadCosts(std::string_view text) {
  return CostReader(text).Read();
}

tl::expected<MemoryModel, TextFault> ReadMemory(std::string_view text) {
  return MemoryReader(text).Read();
}

Result<CostModel> ParseCosts(std::string_view text) {
  auto costs = ReadCosts(text);
  if (!costs) return Fail(AsUsage("costs", text, costs.error()));
  return std::move(*costs);
}

Result<MemoryModel> ParseMemory(std::string_view text) {
  auto memory = ReadMemory(text);
  if (!memory) return Fail(AsUsage("sizes", text, memory.error()));
  return std::move(*memory);
}

}  // namespace pp::ir
