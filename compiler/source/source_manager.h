// Texts of `.sched` files and places in them.
//
// A Span is a half-open byte range in one file; FileId 0 means "no place".
// Line and column are worked out only when shown. A byte order mark is dropped
// on the way in: no offset, column or hash of a text ever sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "runtime/base/status.h"

namespace pp::source {

struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool valid() const { return file != 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

struct LineColumn {
  uint32_t line = 0;    // from 1
  uint32_t column = 0;  // from 1, in bytes
};

// Offsets are 32 bits wide; nothing a person writes comes near this.
inline constexpr size_t kMaxFileBytes = size_t{16} << 20;

class SourceManager {
 public:
  SourceManager();
  ~SourceManager();
  SourceManager(const SourceManager&) = delete;
  SourceManager& operator=(const SourceManager&) = delete;

  // Reads a file. kInput: it does not exist, is a folder, or is larger than
  // 16 MiB; kMachine: it cannot be read.
  Result<uint32_t> Load(const std::string& path);
  // `text` is at most 4 GiB.
  uint32_t AddText(std::string name, std::string text);

  // Every reader takes any number: a file that is not there reads as empty,
  // an offset behind the end as the end.
  const std::string& Name(uint32_t file) const;
  llvm::StringRef Text(uint32_t file) const;
  llvm::StringRef Text(Span span) const;
  LineColumn Resolve(uint32_t file, uint32_t offset) const;
  // Without its line end; line counts from 1.
  llvm::StringRef Line(uint32_t file, uint32_t line) const;

 private:
  struct File;
  const File& Get(uint32_t file) const;
  std::vector<std::unique_ptr<File>> files_;
};

}  // namespace pp::source
