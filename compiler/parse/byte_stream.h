// The text as ANTLR reads it: one character is one byte, so that the offsets of
// tokens are offsets into the file and no decoding can fail. (ANTLRInputStream
// decodes UTF-8, throws where it is none, and counts code points.)
#pragma once

#include <string>

#include "antlr4-runtime.h"
#include "llvm/ADT/StringRef.h"

namespace pp::parse {

class ByteStream : public antlr4::CharStream {
 public:
  explicit ByteStream(llvm::StringRef text) : text_(text) {}

  void consume() override { ++at_; }
  size_t LA(ssize_t distance) override;
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return ""; }
  std::string getText(const antlr4::misc::Interval& interval) override;
  std::string toString() const override { return text_.str(); }

 private:
  llvm::StringRef text_;
  size_t at_ = 0;
};

}  // namespace pp::parse
