// Names in reach at one place of a schedule, and the slots they stand for.
//
// No name may hide another. There are two levels: the schedule's (parameters
// and lets), and the inner one (rank, loop, walk and macro variables), which
// a macro body does not share with its caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/sema/program.h"
#include "llvm/ADT/StringMap.h"

namespace pp::sema {

struct Binding {
  Slot slot = kNone;
  Span declared;
  const char* kind = "";  // "parameter", "`let`", ...
  uint32_t layer = 0;
  bool used = false;
};

class Scope {
 public:
  // The binding that is in the way, or null: declared.
  const Binding* Declare(std::string_view name, const Binding& binding);
  Binding* Find(std::string_view name);

  // The inner level is a stack: leaving a block drops what it declared.
  size_t Mark() const { return inner_names_.size(); }
  // Calls `dropped` with each name and binding that goes.
  template <class Fn>
  void DropTo(size_t mark, Fn&& dropped) {
    while (inner_names_.size() > mark) {
      auto entry = inner_.find(inner_names_.back());
      dropped(entry->first(), entry->second);
      left_[entry->first()] = entry->second.declared;
      inner_.erase(entry);
      inner_names_.pop_back();
    }
  }

  // From here on names go to the inner level.
  void EnterInner() { at_outer_ = false; }

  // Where a name that is out of reach now was declared before.
  std::optional<Span> Left(std::string_view name) const;
  std::vector<std::string_view> Names() const;  // sorted

  llvm::StringMap<Binding>& outer() { return outer_; }

  // A macro body: the caller's inner names are put aside, and, for a macro
  // outside any schedule, the outer ones too.
  struct Aside {
    llvm::StringMap<Binding> outer, inner;
    std::vector<std::string> names;
    bool hid_outer = false;
  };
  Aside PutAside(bool hide_outer);
  void Restore(Aside aside);

 private:
  llvm::StringMap<Binding> outer_, inner_;
  std::vector<std::string> inner_names_;
  llvm::StringMap<Span> left_;
  bool at_outer_ = true;
};

}  // namespace pp::sema
