#include "compiler/ir/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pp::ir {
namespace {

constexpr int kFractionDigits = 6;
constexpr int64_t kScale = 1'000'000;  // of kFractionDigits

struct Unit {
  std::string_view name;
  int64_t size;  // in ticks, or in bytes
};

constexpr std::array<Unit, 4> kTimes = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
constexpr int64_t kKilo = 1000;
constexpr int64_t kKibi = 1024;
constexpr std::array<Unit, 9> kSizes = {{{"B", 1},
                                         {"KiB", kKibi},
                                         {"MiB", kKibi* kKibi},
                                         {"GiB", kKibi* kKibi* kKibi},
                                         {"TiB", kKibi* kKibi* kKibi* kKibi},
                                         {"KB", kKilo},
                                         {"MB", kKilo* kKilo},
                                         {"GB", kKilo* kKilo* kKilo},
                                         {"TB", kKilo* kKilo* kKilo* kKilo}}};
constexpr const char* kSizeNames = "B, KiB, MiB, GiB, TiB, KB, MB, GB, TB";
constexpr Bytes kMaxBytes = Bytes{1} << 50;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

tl::unexpected<TextFault> FaultAt(size_t at, std::string what) {
  return tl::unexpected<TextFault>({at, std::move(what)});
}

std::string_view TakeWord(Scanner& in) {
  const size_t begin = in.at;
  while (IsLetter(in.Peek())) ++in.at;
  return in.text.substr(begin, in.at - begin);
}

const Unit* Find(const Unit* begin, const Unit* end, std::string_view name) {
  const Unit* found =
      std::find_if(begin, end, [&](const Unit& u) { return u.name == name; });
  return found == end ? nullptr : found;
}

tl::expected<int64_t, TextFault> Fraction(Scanner& in) {
  const size_t begin = in.at;
  int64_t value = 0;
  for (; IsDigit(in.Peek()); ++in.at) {
    if (in.at - begin == kFractionDigits) {
      return FaultAt(in.at, fmt::format("a cost has at most {} digits after "
                                        "the point",
                                        kFractionDigits));
    }
    value = value * 10 + (in.Peek() - '0');
  }
  if (in.at == begin) return FaultAt(in.at, "expected a digit after `.`");
  for (size_t n = in.at - begin; n < kFractionDigits; ++n) value *= 10;
  return value;
}

// A decimal number times kScale, at most `most` (then most + 1). A sign is
// read to say what is wrong with it.
tl::expected<int64_t, TextFault> Number(Scanner& in, int64_t most) {
  if (in.Peek() == '-') return FaultAt(in.at, "a cost cannot be negative");
  const size_t begin = in.at;
  int64_t whole = 0;
  for (; IsDigit(in.Peek()); ++in.at) {
    whole = std::min(whole * 10 + (in.Peek() - '0'), most + 1);
  }
  const bool digits = in.at > begin;
  int64_t fraction = 0;
  const bool point = in.Peek() == '.';
  if (point) {
    ++in.at;
    auto read = Fraction(in);
    if (!read && digits) return tl::unexpected(read.error());
    if (read) fraction = *read;
    if (!read) in.at = begin;
  }
  if (in.at == begin) {
    return FaultAt(begin, "expected a number such as 1 or 2.5");
  }
  return whole * kScale + fraction;
}

// size x number / kScale where that is whole.
tl::expected<int64_t, TextFault> InUnits(int64_t number, const Unit& unit,
                                         size_t at, const char* smallest) {
  const __int128 product = static_cast<__int128>(number) * unit.size;
  if (product % kScale != 0) {
    return FaultAt(at, fmt::format("not a whole number of {}", smallest));
  }
  return static_cast<int64_t>(std::min<__int128>(product / kScale, INT64_MAX));
}

tl::unexpected<TextFault> TooLarge(size_t at, bool has_unit) {
  return FaultAt(at, has_unit
                         ? fmt::format("a cost is at most {} ms", kMaxCostUnits)
                         : fmt::format("a cost is at most {}; choose a larger "
                                       "unit",
                                       kMaxCostUnits));
}

}  // namespace

void Scanner::SkipBlanks() {
  while (!AtEnd()) {
    const char c = Peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      return;
    }
  }
}

tl::expected<Time, TextFault> ReadTime(Scanner& in) {
  const size_t begin = in.at;
  constexpr int64_t kMostNumber = 1'000'000'000'000;
  auto number = Number(in, kMostNumber);
  if (!number) return tl::unexpected(number.error());
  const size_t unit_at = in.at;
  const std::string_view name = TakeWord(in);
  Time time{*number, !name.empty()};  // kScale is kTicksPerUnit
  if (time.has_unit) {
    const Unit* unit = Find(kTimes.begin(), kTimes.end(), name);
    if (unit == nullptr) {
      return FaultAt(unit_at, fmt::format("`{}` is no unit of time; known are "
                                          "s, ms, us, ns",
                                          name));
    }
    auto ticks = InUnits(*number, *unit, begin, "nanoseconds");
    if (!ticks) return tl::unexpected(ticks.error());
    time.ticks = *ticks;
  }
  if (time.ticks > kMaxCostUnits * kTicksPerUnit) {
    return TooLarge(begin, time.has_unit);
  }
  return time;
}

tl::expected<Bytes, TextFault> ReadSize(Scanner& in) {
  const size_t begin = in.at;
  auto number = Number(in, kMaxBytes);
  if (!number) return tl::unexpected(number.error());
  const size_t unit_at = in.at;
  const std::string_view name = TakeWord(in);
  const Unit* unit = Find(kSizes.begin(), kSizes.end(), name);
  if (unit == nullptr) {
    return FaultAt(
        unit_at,
        name.empty()
            ? fmt::format("a size needs its unit: one of {}", kSizeNames)
            : fmt::format("`{}` is no unit of size; known are {}", name,
                          kSizeNames));
  }
  auto bytes = InUnits(*number, *unit, begin, "bytes");
  if (bytes && *bytes > kMaxBytes) {
    return FaultAt(begin, "a size is at most 1024 TiB");
  }
  return bytes;
}

tl::expected<TimedWire, TextFault> ReadWire(Scanner& in) {
  auto latency = ReadTime(in);
  if (!latency) return tl::unexpected(latency.error());
  TimedWire result{{latency->ticks, 0}, latency->has_unit};
  const size_t after = in.at;
  in.SkipBlanks();
  if (!in.Take('+')) {
    in.at = after;
    return result;
  }
  in.SkipBlanks();
  const size_t begin = in.at;
  auto rate = ReadTime(in);
  if (!rate) return tl::unexpected(rate.error());
  if (!rate->has_unit || (!result.has_unit && result.wire.latency != 0)) {
    return FaultAt(begin,
                   "time by size is in units of time, as in 0.1ms + "
                   "3us/MiB");
  }
  in.SkipBlanks();
  if (!in.Take('/')) return FaultAt(in.at, "expected `/` and a unit of size");
  in.SkipBlanks();
  const size_t unit_at = in.at;
  const Unit* unit = Find(kSizes.begin(), kSizes.end(), TakeWord(in));
  if (unit == nullptr) {
    return FaultAt(unit_at,
                   fmt::format("expected a unit of size: {}", kSizeNames));
  }
  // Rounded up to a nanosecond a MiB.
  const __int128 per_mib =
      (static_cast<__int128>(rate->ticks) * kMiB + unit->size - 1) / unit->size;
  if (per_mib > kMaxCostUnits * kTicksPerUnit) return TooLarge(begin, true);
  result.wire.per_mib = static_cast<Ticks>(per_mib);
  result.has_unit = true;
  return result;
}

}  // namespace pp::ir
