// A file and what it imports, and which macros and schedules each file sees.
//
// Paths in `import` are relative to the folder of the importing file. Each
// file is read once, however it is spelt. A file sees its own declarations and
// all those its imports see.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source_manager.h"

namespace pp::sema {

struct LoadedFile;

struct VisibleSchedule {
  const ast::ScheduleDecl* decl = nullptr;
  const LoadedFile* home = nullptr;
};

struct VisibleMacro {
  const ast::MacroDecl* decl = nullptr;
  const LoadedFile* home = nullptr;
};

struct LoadedFile {
  const ast::File* file = nullptr;
  std::map<std::string, VisibleMacro, std::less<>> macros;
  std::map<std::string, VisibleSchedule, std::less<>> schedules;
};

class FileSet {
 public:
  FileSet(source::SourceManager& sources, diag::Emitter& diag);
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  // `main` with everything it imports; null when an import could not be read
  // or parsed, or goes round in a circle (errors are in diag). `main` must
  // outlive this.
  const LoadedFile* Load(const ast::File& main);

 private:
  struct Entry;
  struct Importing;

  Entry* LoadImport(const ast::ImportDecl& import, const std::string& from);
  void Resolve(Entry& entry);
  void ReportCycle(const ast::ImportDecl& import, const Entry& again);
  void DeclareOwn(Entry& entry);
  void Take(Entry& entry, const Entry& imported, const ast::ImportDecl& import);

  source::SourceManager& sources_;
  diag::Emitter& diag_;
  std::map<std::string, std::unique_ptr<Entry>> by_path_;
  std::vector<Importing> chain_;  // being loaded, outermost first
  bool failed_ = false;
};

}  // namespace pp::sema
