#include "compiler/diag/snippet.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"

namespace pp::diag {
namespace {

constexpr size_t kMaxBytesShown = 120;  // of one line, around the caret

// The next character, or one byte where there is none.
llvm::StringRef NextCharacter(llvm::StringRef text) {
  const auto* bytes = reinterpret_cast<const llvm::UTF8*>(text.data());
  const size_t length = llvm::getNumBytesForUTF8(*bytes);
  if (length <= text.size() &&
      llvm::isLegalUTF8Sequence(bytes, bytes + length)) {
    return text.take_front(length);
  }
  return text.take_front(1);
}

// A tab counts one column; whatever a terminal would act on is a `?`.
std::string Printable(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    const llvm::StringRef character = NextCharacter(text);
    text = text.drop_front(character.size());
    if (character == "\t") {
      shown += ' ';
    } else if (llvm::sys::unicode::columnWidthUTF8(character) > 0) {
      shown += character;
    } else {
      shown += '?';
    }
  }
  return shown;
}

size_t Width(llvm::StringRef printable) {
  return std::max(0, llvm::sys::unicode::columnWidthUTF8(printable));
}

bool IsContinuation(char byte) { return (byte & 0xC0) == 0x80; }

struct Window {
  size_t begin = 0;
  size_t end = 0;
};

// What of a long line is shown: whole characters, the caret among them.
Window Around(llvm::StringRef line, size_t caret) {
  if (line.size() <= kMaxBytesShown) return {0, line.size()};
  const size_t before = kMaxBytesShown / 3;
  Window window;
  window.begin = caret > before ? caret - before : 0;
  window.end = std::min(line.size(), window.begin + kMaxBytesShown);
  while (window.begin > 0 && IsContinuation(line[window.begin])) {
    --window.begin;
  }
  while (window.end < line.size() && IsContinuation(line[window.end])) {
    ++window.end;
  }
  return window;
}

struct Marked {
  std::string text;
  size_t indent = 0;
  size_t width = 0;
};

Marked Mark(llvm::StringRef line, size_t begin, size_t end) {
  begin = std::min(begin, line.size());
  const Window window = Around(line, begin);
  end = std::clamp(end, begin, std::max(begin, window.end));
  const std::string left = (window.begin > 0 ? "..." : "") +
                           Printable(line.slice(window.begin, begin));
  const std::string inside = Printable(line.slice(begin, end));
  const std::string right = Printable(line.slice(end, window.end)) +
                            (window.end < line.size() ? "..." : "");
  return {left + inside + right, Width(left),
          std::max<size_t>(Width(inside), 1)};
}

}  // namespace

std::string Snippet(source::Span span, const source::SourceManager& sources,
                    bool colour) {
  if (!span.valid()) return "";
  const source::LineColumn at = sources.Resolve(span.file, span.begin);
  const size_t begin = at.column - 1;
  const size_t length = std::max(span.begin, span.end) - span.begin;
  const Marked marked =
      Mark(sources.Line(span.file, at.line), begin, begin + length);
  std::string carets(marked.width, '~');
  carets.front() = '^';
  return fmt::format("{:>5} | {}\n{:>5} | {}{}{}{}\n", at.line, marked.text, "",
                     std::string(marked.indent, ' '),
                     colour ? "\x1b[1;32m" : "", carets,
                     colour ? "\x1b[0m" : "");
}

}  // namespace pp::diag
