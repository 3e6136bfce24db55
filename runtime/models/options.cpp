#include "runtime/models/options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>

#include "runtime/base/edit_distance.h"

namespace pp::models {
namespace {

struct OptionRow {
  std::string_view model, name;
  int64_t fallback, least, most;
};

constexpr OptionRow kRows[] = {
#define PP_MODEL_OPTION(model, name, fallback, least, most, help) \
  {model, name, fallback, least, most},
#include "runtime/models/models.def"
};

const OptionRow* FindRow(std::string_view model, std::string_view name) {
  for (const OptionRow& row : kRows) {
    if (row.model == model && row.name == name) return &row;
  }
  return nullptr;
}

Status UnknownOption(std::string_view model, const std::string& name) {
  std::vector<std::string_view> known;
  for (const OptionRow& row : kRows) {
    if (row.model == model) known.push_back(row.name);
  }
  return UsageError(fmt::format("model {} has no option '{}'{} (it has: {})",
                                model, name, Suggestion(name, known),
                                fmt::join(known, ", ")));
}

Result<int64_t> ParseValue(const OptionRow& row, const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < row.least ||
      value > row.most) {
    return Fail(UsageError(
        fmt::format("option {} of model {}: '{}' is no whole number in {}..{}",
                    row.name, row.model, text, row.least, row.most)));
  }
  return value;
}

}  // namespace

Result<ModelOptions> ModelOptions::Parse(std::string_view model,
                                         const GivenOptions& given) {
  ModelOptions options;
  for (const OptionRow& row : kRows) {
    if (row.model == model)
      options.values_.emplace_back(row.name, row.fallback);
  }
  for (const auto& [name, text] : given) {
    const OptionRow* row = FindRow(model, name);
    if (row == nullptr) return Fail(UnknownOption(model, name));
    PP_ASSIGN_OR_RETURN(const int64_t value, ParseValue(*row, text));
    for (auto& entry : options.values_) {
      if (entry.first == name) entry.second = value;
    }
  }
  return options;
}

int64_t ModelOptions::Get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace pp::models
