#include "runtime/bytecode/text_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/base/edit_distance.h"
#include "runtime/base/quote.h"

namespace pp::bytecode::text {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool EndsWord(char c) {
  return IsSpace(c) || std::string_view(";:[]\"").find(c) != std::string::npos;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Show(std::string_view word) {
  constexpr size_t kMost = 40;
  std::string text = Quote(word.substr(0, kMost));
  text = text.substr(1, text.size() - 2);
  return '`' + text + (word.size() > kMost ? "...`" : "`");
}

void Cursor::SkipSpace() {
  while (at_ < line_.size() && IsSpace(line_[at_])) ++at_;
}

bool Cursor::AtEnd() {
  SkipSpace();
  return at_ == line_.size() || line_.substr(at_).starts_with("//");
}

bool Cursor::NextIs(char c) {
  SkipSpace();
  return at_ < line_.size() && line_[at_] == c;
}

bool Cursor::Accept(std::string_view token) {
  SkipSpace();
  if (!ok() || !line_.substr(at_).starts_with(token)) return false;
  token_ = at_;
  at_ += token.size();
  return true;
}

void Cursor::Expect(std::string_view token) {
  if (!Accept(token)) FailExpected(fmt::format("`{}`", token));
}

void Cursor::ExpectEnd() {
  if (!AtEnd()) FailExpected("the end of the line");
}

std::string_view Cursor::Word() {
  if (AtEnd()) return {};
  token_ = at_;
  while (at_ < line_.size() && !EndsWord(line_[at_]) &&
         !line_.substr(at_).starts_with("//")) {
    ++at_;
  }
  return line_.substr(token_, at_ - token_);
}

std::string Cursor::Name(std::string_view what) {
  if (NextIs('"')) return QuotedString(what);
  const std::string_view word = Word();
  if (word.empty()) FailExpected(what);
  return std::string(word);
}

char Cursor::Escape() {
  const char c = at_ < line_.size() ? line_[at_++] : '\0';
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == '"' || c == '\\') return c;
  if (c == 'x' && at_ + 2 <= line_.size()) {
    const int high = HexDigit(line_[at_]);
    const int low = HexDigit(line_[at_ + 1]);
    at_ += 2;
    if (high >= 0 && low >= 0) return static_cast<char>(high * 16 + low);
  }
  Fail(R"(unknown escape in a string, there are \" \\ \n \t \xHH)");
  return c;
}

std::string Cursor::QuotedString(std::string_view what) {
  std::string out;
  if (!NextIs('"')) {
    FailExpected(fmt::format("{} between quotes", what));
    return out;
  }
  token_ = at_++;
  while (ok() && at_ < line_.size() && line_[at_] != '"') {
    const char c = line_[at_++];
    out += c == '\\' ? Escape() : c;
  }
  if (at_ < line_.size()) {
    ++at_;
  } else {
    Fail("a string is not closed on its line");
  }
  return out;
}

template <class T>
T Cursor::Parse(std::string_view word, std::string_view what,
                std::string_view example) {
  T value{};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  const std::string found = Show(line_.substr(token_, at_ - token_));
  if (error == std::errc::result_out_of_range) {
    Fail(fmt::format("{} {} is out of range", what, found));
  } else {
    Fail(
        fmt::format("expected {} (like `{}`), found {}", what, example, found));
  }
  return T{};
}

uint32_t Cursor::Number(std::string_view what) { return Prefixed("", what); }

uint32_t Cursor::Prefixed(std::string_view prefix, std::string_view what) {
  const std::string_view word = Word();
  if (word.empty()) {
    FailExpected(fmt::format("{} (like `{}3`)", what, prefix));
    return 0;
  }
  if (!word.starts_with(prefix)) {
    Fail(fmt::format("expected {} (like `{}3`), found {}", what, prefix,
                     Show(word)));
    return 0;
  }
  return Parse<uint32_t>(word.substr(prefix.size()), what,
                         fmt::format("{}3", prefix));
}

int64_t Cursor::Signed(std::string_view what) {
  const std::string_view word = Word();
  if (!word.empty()) return Parse<int64_t>(word, what, "-3");
  FailExpected(what);
  return 0;
}

double Cursor::Real(std::string_view what) {
  const std::string_view word = Word();
  if (!word.empty()) return Parse<double>(word, what, "0.25");
  FailExpected(what);
  return 0;
}

void Cursor::Fail(std::string message) {
  if (!ok()) return;
  error_ = std::move(message);
  error_column_ = token_ + 1;
}

void Cursor::FailUnknown(std::string_view what, std::string_view word,
                         std::span<const std::string_view> known) {
  Fail(fmt::format("unknown {} {}{}", what, Show(word),
                   Suggestion(word, known)));
}

std::string Cursor::ShowNext() {
  if (AtEnd()) return "the end of the line";
  size_t end = at_;
  while (end < line_.size() && !EndsWord(line_[end])) ++end;
  return Show(line_.substr(at_, std::max<size_t>(end - at_, 1)));
}

void Cursor::FailExpected(std::string_view expected) {
  const std::string found = ShowNext();
  token_ = at_;
  Fail(fmt::format("expected {}, found {}", expected, found));
}

}  // namespace pp::bytecode::text
