// `extends` written out: one list per kind of declaration, each entry with the
// layer (0 = the schedule itself, 1 = its parent, ...) it was written in.
//
// What a child writes replaces what its ancestors wrote:
//   let, phase   of the same name, in its place
//   place        the parent's
//   walk         of the same cursor
//   rank blocks  all of the parent's, as a set
//   expect       on the same left side
//   cost, mem    the parent's
//   macro        of the same name
// `require`s add up. Parameters the child does not list are inherited, unless
// a `let` of the child gives them a value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/sema/loader.h"

namespace pp::sema {

template <class Node>
struct Owned {
  const Node* node = nullptr;
  source::Span span;  // of the whole line
  uint32_t layer = 0;
};

template <class Node>
using Overrides = std::map<std::string, Owned<Node>, std::less<>>;

struct FlatSchedule {
  std::vector<VisibleSchedule> layers;
  std::vector<Owned<ast::Parameter>> params;
  std::vector<Owned<ast::LetStmt>> lets;  // of the schedule
  std::vector<Owned<ast::RequireDecl>> requires_;
  std::vector<Owned<ast::PlaceDecl>> places;  // one, if it is right
  std::vector<Owned<ast::WalkDecl>> walks;
  std::vector<Owned<ast::RankDecl>> ranks;
  std::vector<Owned<ast::MacroDecl>> macros;
  std::vector<Owned<ast::ExpectDecl>> expects;
  std::vector<Owned<ast::QuantitiesDecl>> quantities;  // costs, sizes or both
  // In rank blocks: a statement of an outer layer with this name is replaced
  // by this one of an inner layer.
  Overrides<ast::LetStmt> let_overrides;
  Overrides<ast::PhaseStmt> phase_overrides;

  const ast::ScheduleDecl& own() const { return *layers.front().decl; }
};

// nullopt when the chain of parents is broken; other errors (duplicates, a
// phase that replaces nothing) are in `diag` and a schedule is still given.
std::optional<FlatSchedule> Flatten(VisibleSchedule schedule,
                                    diag::Emitter& diag);

// Names of all `let`s, or `phase`s, that an override can reach.
std::vector<std::string_view> LetNames(const FlatSchedule& flat);
std::vector<std::string_view> PhaseNames(const FlatSchedule& flat);

}  // namespace pp::sema
