#include "compiler/parse/byte_stream.h"

namespace pp::parse {

size_t ByteStream::LA(ssize_t distance) {
  if (distance == 0) return 0;
  const ssize_t ahead = distance > 0 ? distance - 1 : distance;
  const size_t at = at_ + static_cast<size_t>(ahead);  // wraps below 0
  return at < text_.size() ? static_cast<unsigned char>(text_[at])
                           : antlr4::IntStream::EOF;
}

std::string ByteStream::getText(const antlr4::misc::Interval& interval) {
  if (interval.a < 0 || interval.b < interval.a) return "";
  return text_.slice(interval.a, interval.b + 1).str();
}

}  // namespace pp::parse
