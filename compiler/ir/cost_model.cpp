#include "compiler/ir/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "llvm/ADT/StringRef.h"

namespace pp::ir {
namespace {

constexpr size_t kComm = kOpKinds;  // the row after the operations
constexpr std::array<std::string_view, kOpKinds + 1> kKeys = {"F", "B", "I",
                                                              "W", "comm"};
constexpr int kFractionDigits = 6;  // of kTicksPerUnit

std::string DidYouMean(std::string_view name) {
  llvm::StringRef given(name.data(), name.size());
  std::string_view best;
  unsigned distance = given.size() / 2 + 1;
  for (std::string_view key : kKeys) {
    llvm::StringRef known(key.data(), key.size());
    unsigned d =
        given.equals_insensitive(known) ? 0 : given.edit_distance(known);
    if (d < distance && d < known.size()) {
      distance = d;
      best = key;
    }
  }
  return best.empty() ? "" : fmt::format(", did you mean `{}`?", best);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class CostParser {
 public:
  explicit CostParser(std::string_view text) : text_(text) {}

  Result<CostModel> Parse() {
    SkipBlanks();
    while (at_ < text_.size()) {
      PP_RETURN_IF_ERROR(Entry());
      if (at_ == text_.size()) break;
      if (text_[at_] != ',') return Fail(Error(at_, "expected `,`"));
      ++at_;
      SkipBlanks();
      if (at_ == text_.size()) {
        return Fail(Error(at_, "expected another `NAME=NUMBER` after `,`"));
      }
    }
    return Model();
  }

 private:
  Status Error(size_t at, const std::string& what) const {
    return UsageError(
        fmt::format("costs `{}`, character {}: {}", text_, at + 1, what));
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  Status Entry() {
    size_t begin = at_;
    PP_ASSIGN_OR_RETURN(size_t key, Key());
    if (value_[key]) {
      return Error(begin, fmt::format("`{}` is given twice", kKeys[key]));
    }
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] != '=') {
      return Error(at_, fmt::format("expected `=` after `{}`", kKeys[key]));
    }
    ++at_;
    SkipBlanks();
    begin = at_;
    PP_ASSIGN_OR_RETURN(Ticks ticks, Number());
    if (key != kComm && ticks == 0) {
      return Error(begin, fmt::format("the cost of `{}` is 0, but an operation "
                                      "takes time",
                                      kKeys[key]));
    }
    value_[key] = ticks;
    SkipBlanks();
    return OkStatus();
  }

  Result<size_t> Key() {
    size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '=' && text_[at_] != ',' &&
           text_[at_] != ' ' && text_[at_] != '\t') {
      ++at_;
    }
    std::string_view name = text_.substr(begin, at_ - begin);
    auto* found = std::find(kKeys.begin(), kKeys.end(), name);
    if (found != kKeys.end()) return found - kKeys.begin();
    if (name.empty()) {
      return Fail(Error(begin, "expected one of F, B, I, W, comm"));
    }
    return Fail(Error(
        begin, fmt::format("`{}` has no cost; known are F, B, I, W, comm{}",
                           name, DidYouMean(name))));
  }

  // Digits [ `.` digits ]; a sign is read to say what is wrong with it.
  Result<Ticks> Number() {
    size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') {
      return Fail(Error(begin, "a cost cannot be negative"));
    }
    Ticks units = 0;
    while (at_ < text_.size() && IsDigit(text_[at_])) {
      units = std::min(units * 10 + (text_[at_++] - '0'), kMaxCostUnits + 1);
    }
    bool digits = at_ > begin;
    Ticks fraction = 0;
    if (digits && at_ < text_.size() && text_[at_] == '.') {
      PP_ASSIGN_OR_RETURN(fraction, Fraction());
    }
    if (!digits)
      return Fail(Error(begin, "expected a number such as 1 or 2.5"));
    Ticks ticks = units * kTicksPerUnit + fraction;
    if (ticks > kMaxCostUnits * kTicksPerUnit) {
      return Fail(Error(begin, fmt::format("a cost is at most {}; choose a "
                                           "larger unit",
                                           kMaxCostUnits)));
    }
    return ticks;
  }

  Result<Ticks> Fraction() {
    size_t begin = ++at_;  // past the point
    Ticks ticks = 0;
    for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
      if (at_ - begin == kFractionDigits) {
        return Fail(Error(at_, fmt::format("a cost has at most {} digits after "
                                           "the point",
                                           kFractionDigits)));
      }
      ticks = ticks * 10 + (text_[at_] - '0');
    }
    if (at_ == begin) return Fail(Error(at_, "expected a digit after `.`"));
    for (size_t n = at_ - begin; n < kFractionDigits; ++n) ticks *= 10;
    return ticks;
  }

  CostModel Model() const {
    CostModel model;
    for (size_t kind = 0; kind < kOpKinds; ++kind) {
      if (value_[kind]) model.op[kind] = *value_[kind];
    }
    if (!value_[static_cast<size_t>(OpKind::kB)]) {
      model.op[static_cast<size_t>(OpKind::kB)] =
          model.Of(OpKind::kI) + model.Of(OpKind::kW);
    }
    model.comm = value_[kComm].value_or(0);
    return model;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::array<std::optional<Ticks>, kOpKinds + 1> value_;
};

}  // namespace

Result<CostModel> ParseCosts(std::string_view text) {
  return CostParser(text).Parse();
}

Status CheckClockFits(const CostModel& costs, uint64_t ops) {
  Ticks longest =
      *std::max_element(costs.op.begin(), costs.op.end()) + costs.comm;
  int64_t total = 0;
  if (ops > static_cast<uint64_t>(INT64_MAX) ||
      __builtin_mul_overflow(longest, static_cast<int64_t>(ops), &total)) {
    return UsageError(fmt::format(
        "{} operations of up to {} units each do not fit the clock; choose a "
        "larger unit of cost",
        ops, PrintTicks(longest)));
  }
  return OkStatus();
}

std::string Print(const CostModel& costs) {
  std::string text;
  for (size_t kind = 0; kind < kOpKinds; ++kind) {
    text += fmt::format("{}={},", kOpNames[kind], PrintTicks(costs.op[kind]));
  }
  return text + "comm=" + PrintTicks(costs.comm);
}

std::string PrintTicks(Ticks ticks) {
  uint64_t size = ticks < 0 ? 0 - static_cast<uint64_t>(ticks) : ticks;
  std::string text =
      fmt::format("{}{}", ticks < 0 ? "-" : "", size / kTicksPerUnit);
  uint64_t rest = size % kTicksPerUnit;
  if (rest == 0) return text;
  std::string digits = fmt::format("{:06}", rest);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

}  // namespace pp::ir
