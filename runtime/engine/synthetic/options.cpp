#include "runtime/engine/synthetic/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "runtime/base/edit_distance.h"

namespace pp::engine::synthetic {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kSizeUnits[] = {{"", 1},
                               {"B", 1},
                               {"KiB", 1024},
                               {"MiB", 1024. * 1024},
                               {"GiB", 1024. * 1024 * 1024}};
// A day of sleep, a tebibyte: more is a slip of the hand.
constexpr double kMaxNs = 86400e9;
constexpr double kMaxBytes = 1024. * 1024 * 1024 * 1024;

// "1.5ms" -> 1.5 and "ms"; false when no number >= 0 leads.
bool SplitNumber(std::string_view text, double* number,
                 std::string_view* rest) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc() || !std::isfinite(*number) || *number < 0) {
    return false;
  }
  *rest = text.substr(static_cast<size_t>(end - text.data()));
  return true;
}

template <size_t N>
std::optional<double> Scaled(std::string_view text, const Unit (&units)[N],
                             double limit) {
  double number = 0;
  std::string_view rest;
  if (!SplitNumber(text, &number, &rest)) return std::nullopt;
  for (const Unit& unit : units) {
    const double value = number * unit.factor;
    if (rest == unit.name && value <= limit) return value;
  }
  return std::nullopt;
}

Status ParseDuration(std::string_view text, std::optional<int64_t>* out) {
  const auto ns =
      text == "0" ? std::optional(0.) : Scaled(text, kTimeUnits, kMaxNs);
  if (!ns) {
    return UsageError(
        "expected a duration such as 10ms, 250us or 1.5s, at most a day");
  }
  *out = std::llround(*ns);
  return OkStatus();
}

Status ParseBytes(std::string_view text, std::optional<uint64_t>* out) {
  const auto bytes = Scaled(text, kSizeUnits, kMaxBytes);
  if (!bytes) {
    return UsageError("expected a size such as 4096, 64KiB or 1.5MiB");
  }
  *out = static_cast<uint64_t>(std::llround(*bytes));
  return OkStatus();
}

bool ParseIndex(std::string_view text, uint32_t* out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *out);
  return error == std::errc() && stop == end;
}

Status ParseFault(std::string_view text, std::optional<Fault>* out) {
  const size_t colon = text.find(':');
  Fault fault;
  const bool good = colon != std::string_view::npos &&
                    colon + 2 < text.size() &&
                    ParseIndex(text.substr(0, colon), &fault.rank.value) &&
                    std::string_view("FBIW").find(text[colon + 1]) !=
                        std::string_view::npos &&
                    ParseIndex(text.substr(colon + 2), &fault.mb.value);
  if (!good) {
    return UsageError("expected rank:operation such as 2:F3, for F, B, I, W");
  }
  fault.operation = text[colon + 1];
  *out = fault;
  return OkStatus();
}

// Options hold plain and optional fields: both take what was parsed.
template <class T>
void Store(const std::optional<T>& from, T* to) {
  *to = *from;
}
template <class T>
void Store(const std::optional<T>& from, std::optional<T>* to) {
  *to = from;
}

template <class T>
struct ValueOf {
  using Type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using Type = T;
};

template <class Field, class ParseFn>
Status ParseInto(ParseFn parse, std::string_view text, Field* field) {
  std::optional<typename ValueOf<Field>::Type> value;
  PP_RETURN_IF_ERROR(parse(text, &value));
  Store(value, field);
  return OkStatus();
}

bool IsStageName(std::string_view name, uint32_t* stage) {
  return name.size() > 1 && name[0] == 's' && ParseIndex(name.substr(1), stage);
}

Status ParseFactor(std::string_view text, double* factor) {
  std::string_view rest;
  if (!SplitNumber(text, factor, &rest) || !rest.empty() || *factor > 1e6) {
    return UsageError("expected a factor such as 2 or 0.5, at most 1e6");
  }
  return OkStatus();
}

Status ParseOne(const std::string& name, const std::string& value,
                Options* options) {
#define PP_SYNTHETIC_OPTION(option, Kind, field, help) \
  if (name == #option) return ParseInto(Parse##Kind, value, &options->field);
#include "runtime/engine/synthetic/options.def"
  uint32_t stage = 0;
  if (IsStageName(name, &stage)) {
    return ParseFactor(value, &options->stage_factor[stage]);
  }
  static constexpr std::string_view kNames[] = {
#define PP_SYNTHETIC_OPTION(option, ...) #option,
#include "runtime/engine/synthetic/options.def"
  };
  return UsageError("the synthetic model has no such option" +
                    Suggestion(name, kNames) +
                    "; it has f, b, i, w (durations), msg, act, act_after_i "
                    "(sizes), sN (factor of stage N), fail, hang (drills)");
}

}  // namespace

Result<Options> ParseOptions(
    const std::vector<std::pair<std::string, std::string>>& pairs) {
  Options options;
  for (const auto& [name, value] : pairs) {
    PP_RETURN_IF_ERROR(
        ParseOne(name, value, &options)
            .WithContext(fmt::format("option '{}={}'", name, value)));
  }
  return options;
}

}  // namespace pp::engine::synthetic
