#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "runtime/base/quote.h"
#include "runtime/weights/safetensors.h"

namespace pp::weights {
namespace {

using Json = nlohmann::json;

constexpr const char kMetadata[] = "__metadata__";

struct Dtype {
  std::string_view name;
  uint64_t bytes;
};
constexpr Dtype kDtypes[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
    {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
    {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8},
};

// Names of the outermost object; JSON readers let the last of two win.
class NameCheck {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!seen_.insert(name).second && !twice_) twice_ = name;
    }
    return true;
  }
  const std::optional<std::string>& twice() const { return twice_; }

 private:
  std::set<std::string> seen_;
  std::optional<std::string> twice_;
};

// A whole number below 2^63.
std::optional<uint64_t> NumberOf(const Json& json) {
  if (!json.is_number_unsigned()) return std::nullopt;
  const auto number = json.get<uint64_t>();
  if (number > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return number;
}

Result<Shape> ShapeOf(const Json& entry) {
  const auto found = entry.find("shape");
  if (found == entry.end() || !found->is_array()) {
    return Fail(InputError("has no shape"));
  }
  Shape shape;
  for (const Json& json : *found) {
    const auto size = NumberOf(json);
    if (!size) return Fail(InputError("has a shape that is not whole numbers"));
    shape.push_back(static_cast<int64_t>(*size));
  }
  return shape;
}

// nullopt: more than 64 bits hold.
std::optional<uint64_t> BytesOf(const Shape& shape, uint64_t each) {
  uint64_t bytes = each;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Result<TensorInfo> EntryOf(const Json& entry, uint64_t data_bytes) {
  if (!entry.is_object()) return Fail(InputError("is not described"));
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) {
    return Fail(InputError("has no dtype"));
  }
  TensorInfo info;
  info.dtype = dtype->get<std::string>();
  const auto* row = std::ranges::find(kDtypes, info.dtype, &Dtype::name);
  if (row == std::end(kDtypes)) {
    return Fail(
        InputError(fmt::format("has the unknown dtype {}", Quote(info.dtype))));
  }
  PP_ASSIGN_OR_RETURN(info.shape, ShapeOf(entry));
  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !NumberOf((*offsets)[0]) || !NumberOf((*offsets)[1])) {
    return Fail(InputError("has no two data_offsets"));
  }
  info.begin = *NumberOf((*offsets)[0]);
  info.end = *NumberOf((*offsets)[1]);
  if (info.begin > info.end || info.end > data_bytes) {
    return Fail(InputError(fmt::format("is at bytes {} to {} of {}", info.begin,
                                       info.end, data_bytes)));
  }
  if (BytesOf(info.shape, row->bytes) != info.end - info.begin) {
    return Fail(InputError(fmt::format("has {} bytes, but the shape {} of {}",
                                       info.end - info.begin,
                                       ShapeText(info.shape), info.dtype)));
  }
  return info;
}

Status TakeMetadata(const Json& json, Header& header) {
  if (!json.is_object()) return InputError("its __metadata__ is no object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return InputError(
          fmt::format("its __metadata__ {} is no text", Quote(key)));
    }
    header.metadata[key] = value.get<std::string>();
  }
  return OkStatus();
}

// Every byte of the data belongs to exactly one tensor.
Status CheckCover(const Header& header, uint64_t data_bytes) {
  std::vector<std::pair<std::pair<uint64_t, uint64_t>, std::string_view>> parts;
  for (const auto& [name, info] : header.tensors) {
    parts.push_back({{info.begin, info.end}, name});
  }
  std::ranges::sort(parts);
  uint64_t at = 0;
  for (const auto& [range, name] : parts) {
    if (range.first != at) {
      return InputError(
          fmt::format("tensor {} begins at byte {} of the data, {} at byte {}",
                      Quote(name), range.first,
                      range.first < at ? "inside another that ends"
                                       : "after a hole that begins",
                      at));
    }
    at = range.second;
  }
  if (at == data_bytes) return OkStatus();
  return InputError(
      fmt::format("its tensors have {} bytes, the file {}", at, data_bytes));
}

}  // namespace

std::string ShapeText(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<Header> ParseHeader(std::string_view json, uint64_t data_bytes) {
  NameCheck names;
  const Json root = Json::parse(json, std::ref(names), false);
  if (!root.is_object())
    return Fail(InputError("its header is no JSON object"));
  if (names.twice()) {
    return Fail(InputError(
        fmt::format("tensor {} is there twice", Quote(*names.twice()))));
  }
  Header header;
  for (const auto& [name, entry] : root.items()) {
    if (name == kMetadata) {
      PP_RETURN_IF_ERROR(TakeMetadata(entry, header));
      continue;
    }
    auto info = EntryOf(entry, data_bytes);
    if (!info) {
      return Fail(InputError(
          fmt::format("tensor {} {}", Quote(name), info.error().message())));
    }
    header.tensors.emplace(name, std::move(*info));
  }
  PP_RETURN_IF_ERROR(CheckCover(header, data_bytes));
  return header;
}

}  // namespace pp::weights
