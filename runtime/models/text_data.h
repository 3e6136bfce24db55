// A text file as training data: bytes are the tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace pp::models {

class TextData {
 public:
  // kInput: not a readable regular file.
  static Result<TextData> Load(const std::string& path);

  const std::string& path() const { return path_; }
  size_t bytes() const { return text_.size(); }

  // int64 [rows, context]: a window of the file per row, drawn from (seed,
  // step, row) alone, from its byte number `shift` on. Shift 1 gives the
  // targets of shift 0. The file must have more than `context` bytes.
  at::Tensor Windows(uint64_t seed, uint64_t step, uint32_t rows,
                     int64_t context, int64_t shift) const;

 private:
  TextData(std::string path, std::string text);

  std::string path_;
  std::string text_;
};

}  // namespace pp::models
