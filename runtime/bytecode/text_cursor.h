// One line of `.ppasm` text, read token by token. Internal.
//
// The first failure sticks with its column; later reads give zeros and empty
// strings, so that a line needs one check at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pp::bytecode::text {

class Cursor {
 public:
  explicit Cursor(std::string_view line) : line_(line) {}

  bool ok() const { return !error_.has_value(); }
  const std::string& error() const { return *error_; }
  size_t error_column() const { return error_column_; }  // from 1

  // Nothing but spaces or a `//` comment is left.
  bool AtEnd();
  bool NextIs(char c);
  // Takes `token` when it comes next.
  bool Accept(std::string_view token);
  void Expect(std::string_view token);
  void ExpectEnd();

  // Up to a space or one of ; : [ ] " or a comment; empty when there is none.
  std::string_view Word();
  // A word, or a string between quotes with the escapes of Quote().
  std::string Name(std::string_view what);
  std::string QuotedString(std::string_view what);

  // `what` names the number in the message, "micro-batches".
  uint32_t Number(std::string_view what);
  // A number behind its prefix, "m3".
  uint32_t Prefixed(std::string_view prefix, std::string_view what);
  int64_t Signed(std::string_view what);
  double Real(std::string_view what);

  // Fails at the start of the token read last.
  void Fail(std::string message);
  // "unknown WHAT `word`, did you mean `other`?"
  void FailUnknown(std::string_view what, std::string_view word,
                   std::span<const std::string_view> known);
  // "expected EXPECTED, found `next`", at the next token.
  void FailExpected(std::string_view expected);

 private:
  void SkipSpace();
  std::string ShowNext();
  char Escape();
  template <class T>
  T Parse(std::string_view word, std::string_view what,
          std::string_view example);

  std::string_view line_;
  size_t at_ = 0;
  size_t token_ = 0;  // start of the token read last
  std::optional<std::string> error_;
  size_t error_column_ = 0;
};

// A word for a message: short, between backticks, nothing unprintable.
std::string Show(std::string_view word);

}  // namespace pp::bytecode::text
