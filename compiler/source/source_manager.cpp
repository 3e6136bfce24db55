#include "compiler/source/source_manager.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fmt/format.h"

namespace pp::source {
namespace {

constexpr llvm::StringLiteral kByteOrderMark("\xEF\xBB\xBF");

bool InputIsAtFault(int error) {
  return error == ENOENT || error == ENOTDIR || error == EISDIR ||
         error == ENAMETOOLONG || error == ELOOP;
}

Status ReadError(const std::string& path, int error) {
  const std::string message =
      fmt::format("cannot read `{}`: {}", path, std::strerror(error));
  return InputIsAtFault(error) ? InputError(message) : MachineError(message);
}

// Reads to the end or one byte over the limit: a pipe and a device have no
// size to ask for.
Result<std::string> ReadUpTo(const std::string& path, size_t limit) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Fail(ReadError(path, errno));
  std::string text;
  char chunk[1 << 16];
  size_t got = 0;
  while (text.size() <= limit &&
         (got = std::fread(chunk, 1, sizeof chunk, file)) > 0) {
    text.append(chunk, got);
  }
  const int error = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (error != 0) return Fail(ReadError(path, error));
  return text;
}

std::vector<uint32_t> LineStarts(llvm::StringRef text) {
  std::vector<uint32_t> starts = {0};
  for (size_t at = text.find('\n'); at != llvm::StringRef::npos;
       at = text.find('\n', at + 1)) {
    starts.push_back(static_cast<uint32_t>(at) + 1);
  }
  return starts;
}

}  // namespace

struct SourceManager::File {
  std::string name;
  std::string text;
  std::vector<uint32_t> line_starts;
};

// FileId 0 is the empty text without a name, so that "no place" needs no
// special case in any reader.
SourceManager::SourceManager() { AddText("", ""); }
SourceManager::~SourceManager() = default;

Result<uint32_t> SourceManager::Load(const std::string& path) {
  PP_ASSIGN_OR_RETURN(std::string text, ReadUpTo(path, kMaxFileBytes));
  if (text.size() > kMaxFileBytes) {
    return Fail(
        InputError(fmt::format("`{}` is larger than {} MiB, the most that a "
                               "schedule's text may have",
                               path, kMaxFileBytes >> 20)));
  }
  return AddText(path, std::move(text));
}

uint32_t SourceManager::AddText(std::string name, std::string text) {
  if (llvm::StringRef(text).startswith(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  auto file = std::make_unique<File>();
  file->line_starts = LineStarts(text);
  file->name = std::move(name);
  file->text = std::move(text);
  files_.push_back(std::move(file));
  return static_cast<uint32_t>(files_.size() - 1);
}

const SourceManager::File& SourceManager::Get(uint32_t file) const {
  return *files_[file < files_.size() ? file : 0];
}

const std::string& SourceManager::Name(uint32_t file) const {
  return Get(file).name;
}

llvm::StringRef SourceManager::Text(uint32_t file) const {
  return Get(file).text;
}

llvm::StringRef SourceManager::Text(Span span) const {
  return Text(span.file).slice(span.begin, std::max(span.begin, span.end));
}

LineColumn SourceManager::Resolve(uint32_t file, uint32_t offset) const {
  const File& f = Get(file);
  offset = std::min(offset, static_cast<uint32_t>(f.text.size()));
  const auto after =
      std::upper_bound(f.line_starts.begin(), f.line_starts.end(), offset);
  return {static_cast<uint32_t>(after - f.line_starts.begin()),
          offset - *std::prev(after) + 1};
}

llvm::StringRef SourceManager::Line(uint32_t file, uint32_t line) const {
  const File& f = Get(file);
  if (line == 0 || line > f.line_starts.size()) return {};
  const llvm::StringRef rest =
      llvm::StringRef(f.text).drop_front(f.line_starts[line - 1]);
  return rest.take_front(rest.find('\n')).rtrim('\r');
}

}  // namespace pp::source
