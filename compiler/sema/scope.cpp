#include "compiler/sema/scope.h"

#include <algorithm>
#include <utility>

namespace pp::sema {
namespace {

llvm::StringRef Ref(std::string_view name) {
  return llvm::StringRef(name.data(), name.size());
}

}  // namespace

const Binding* Scope::Declare(std::string_view name, const Binding& binding) {
  if (const Binding* other = Find(name)) return other;
  if (at_outer_) {
    outer_[Ref(name)] = binding;
  } else {
    inner_[Ref(name)] = binding;
    inner_names_.emplace_back(name);
  }
  return nullptr;
}

Binding* Scope::Find(std::string_view name) {
  auto inner = inner_.find(Ref(name));
  if (inner != inner_.end()) return &inner->second;
  auto outer = outer_.find(Ref(name));
  return outer != outer_.end() ? &outer->second : nullptr;
}

std::optional<Span> Scope::Left(std::string_view name) const {
  auto found = left_.find(Ref(name));
  if (found == left_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string_view> Scope::Names() const {
  std::vector<std::string_view> names;
  for (const auto* level : {&outer_, &inner_}) {
    for (const auto& entry : *level) {
      names.emplace_back(entry.first().data(), entry.first().size());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Scope::Aside Scope::PutAside(bool hide_outer) {
  Aside aside;
  aside.hid_outer = hide_outer;
  std::swap(aside.inner, inner_);
  std::swap(aside.names, inner_names_);
  if (hide_outer) std::swap(aside.outer, outer_);
  return aside;
}

void Scope::Restore(Aside aside) {
  std::swap(aside.inner, inner_);
  std::swap(aside.names, inner_names_);
  if (aside.hid_outer) std::swap(aside.outer, outer_);
}

}  // namespace pp::sema
