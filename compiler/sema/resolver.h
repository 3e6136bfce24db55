// Flat schedule -> Program: every name becomes a slot, every expression gets a
// dimension. Errors are independent of each other: what depends on a faulty
// expression is not judged.
//
// Private to sema/.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/sema/flatten.h"
#include "compiler/sema/program.h"
#include "compiler/sema/scope.h"
#include "llvm/ADT/DenseMap.h"

namespace pp::sema {

// The resolved expression; `bad` after an error that has been reported.
struct Typed {
  ExprId id = kNone;
  Dimension dimension = Dimension::kNumber;
  bool bad = false;
};

class Resolver {
 public:
  // Macros outside schedules that get called are added to `used_macros`.
  Resolver(const source::SourceManager& sources, const FlatSchedule& flat,
           std::set<const ast::MacroDecl*>& used_macros, diag::Emitter& diag);

  // Complete only if no error was emitted.
  Program Run();

  // Checks the body of a macro that no schedule calls.
  void CheckMacro(const VisibleMacro& macro);

 private:
  friend struct ExprResolver;
  friend struct StmtResolver;

  // ---- Declarations (resolver.cpp) ----
  void ResolveParams();
  void ResolveLets();
  bool ResolveLet(size_t index, const Span* use);  // false: in a circle
  void ResolveRequires();
  void ResolvePlace();
  void ResolveRule(const ast::CustomRule& rule, Custom& custom);
  void ResolveWalks();
  void ResolveRanks();
  void ResolveMacros();
  void ResolveExpects();
  void ResolveExpect(const Owned<ast::ExpectDecl>& owned);
  void WarnUnused();
  Slot Declare(const ast::Identifier& name, const char* kind);
  Slot DeclareImplicit(const char* name, Span where, const char* meaning);
  void LeaveScope(size_t mark);
  void WarnIfUnused(llvm::StringRef name, const Binding& binding);
  std::string Text(Span span) const;  // of the source, on one line

  // ---- Expressions (resolve_expr.cpp) ----
  Typed Resolve(const ast::Expr& expr);
  ExprId ResolveNumber(const ast::Expr& expr);  // a time is an error
  Typed ResolveName(const ast::NameRef& name, Span span);
  Typed UnknownName(std::string_view name, Span span);
  Typed ResolveUnary(const ast::UnaryExpr& unary, Span span);
  Typed ResolveBinary(const ast::BinaryExpr& binary, Span span);
  Typed Combine(ast::BinaryOp op, Typed left, Typed right, Span span);
  Typed ResolveCall(const ast::CallExpr& call, Span span);
  Typed ResolveMinMax(const ast::CallExpr& call, ExprKind kind, Span span);
  Typed ResolveCost(const ast::CallExpr& call, Span span);
  Typed ResolveLive(const ast::CallExpr& call, Span span);
  Typed ResolveConditional(const ast::ConditionalExpr& node, Span span);
  Typed Unify(Typed& left, Typed& right);
  Typed ToTime(Typed value);
  Typed OutsideExpect(std::string_view name, Span span);
  bool Arity(const ast::CallExpr& call, size_t wanted, Span span);
  Typed Make(ExprKind kind, Span span, Dimension dimension, Typed a = {},
             Typed b = {}, Typed c = {});
  Typed Bad(Span span);
  Dimension DimensionOf(ExprId id) const;

  // ---- Statements (resolve_stmt.cpp) ----
  BlockRange ResolveBlock(const ast::Block& block);
  void ResolveStmts(const ast::Block& block, std::vector<Stmt>& out);
  Stmt ResolvePhase(const ast::PhaseStmt& phase, Span span);
  Stmt ResolveOp(const ast::OpStmt& op, Span span);
  void ResolvePair(const ast::OpStmt& left, Span span, std::vector<Stmt>& out);
  std::optional<Stmt> ResolveMacroCall(const ast::MacroCall& call, Span span);
  void CheckPhaseNames(const ast::Block& block);
  struct KnownMacro {
    const ast::MacroDecl* decl = nullptr;
    const LoadedFile* home = nullptr;  // null: of the schedule
    uint32_t layer = 0;
  };
  std::optional<KnownMacro> FindMacro(const ast::Identifier& name);
  std::optional<uint32_t> ResolveMacro(const KnownMacro& macro, Span call);
  void ResolveMacroBody(const KnownMacro& macro, Span call);
  void ReportRecursion(const KnownMacro& macro, Span call);
  uint32_t PhaseIndex(const std::string& name);

  struct MacroState {
    uint32_t index = kNone;
    bool in_progress = false;
    uint32_t height = 0;  // of its statements, calls followed
  };
  struct OpenCall {
    const ast::MacroDecl* macro;
    Span call;
  };

  const source::SourceManager& sources_;
  const FlatSchedule& flat_;
  std::set<const ast::MacroDecl*>& used_macros_;
  diag::Emitter& diag_;
  Program program_;
  Scope scope_;
  uint32_t layer_ = 0;                // of what is being resolved
  const LoadedFile* home_ = nullptr;  // whose macros are seen; null: layer's
  bool in_schedule_macros_ = true;    // are the schedule's macros seen
  bool in_expect_ = false;
  uint32_t expr_depth_ = 0;
  uint32_t stmt_depth_ = 0;
  uint32_t height_ = 0;  // deepest stmt_depth_ below, calls followed
  std::set<std::string, std::less<>> lets_applied_, phases_applied_;
  llvm::DenseMap<const ast::MacroDecl*, MacroState> macros_;
  std::vector<OpenCall> open_calls_;
  llvm::StringMap<uint32_t> phase_index_;
  std::set<const ast::MacroDecl*> schedule_macros_used_;

  enum class LetState : uint8_t { kWaiting, kOpen, kDone };
  std::vector<LetState> let_state_;  // by index in flat_.lets
  std::vector<size_t> open_lets_;
  uint32_t let_need_ = 0;  // lets that the current expression rests on
  llvm::StringMap<uint32_t> let_index_;  // name -> index in program_.lets + 1
  std::vector<Dimension> dimensions_;    // by ExprId
};

}  // namespace pp::sema
