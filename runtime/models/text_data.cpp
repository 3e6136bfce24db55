#include "runtime/models/text_data.h"

#include <ATen/Functions.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "runtime/models/random.h"

namespace pp::models {

TextData::TextData(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)) {}

Result<TextData> TextData::Load(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return Fail(InputError(fmt::format("data file {}: no such file", path)));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return Fail(InputError(fmt::format("data file {}: not a file", path)));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Fail(InputError(
        fmt::format("data file {}: {}", path, std::strerror(errno))));
  }
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) {
    return Fail(InputError(fmt::format("data file {}: read failed", path)));
  }
  return TextData(path, std::move(text));
}

at::Tensor TextData::Windows(uint64_t seed, uint64_t step, uint32_t rows,
                             int64_t context, int64_t shift) const {
  at::Tensor tokens = at::empty({rows, context}, at::kLong);
  int64_t* out = tokens.mutable_data_ptr<int64_t>();
  const uint64_t starts = text_.size() - static_cast<uint64_t>(context);
  for (uint32_t row = 0; row < rows; ++row) {
    const uint64_t start =
        Random(seed, "data.window", step, row).Below(starts) +
        static_cast<uint64_t>(shift);
    for (int64_t t = 0; t < context; ++t) {
      *out++ = static_cast<unsigned char>(text_[start + t]);
    }
  }
  return tokens;
}

}  // namespace pp::models
