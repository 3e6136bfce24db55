// The syntax tree of a `.sched` file: plain structs, each with its span.
//
// Produced by parse/, read by sema/ and expand/. Closed sets are variants:
// std::visit over one without a case for each alternative does not compile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/source/source_manager.h"

namespace pp::ast {

using source::Span;

struct Identifier {
  std::string text;
  Span span;
};

// ---- Expressions ----------------------------------------------------------

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class UnaryOp : uint8_t { kNegate, kNot };
enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,  // integers; floor division
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,  // comparisons give 0 or 1
  kAnd,
  kOr,  // short-circuit
};

struct IntLiteral {
  int64_t value;
};
struct NameRef {
  std::string name;
};
struct UnaryExpr {
  UnaryOp op;
  ExprPtr operand;
};
struct BinaryExpr {
  BinaryOp op;
  ExprPtr left, right;
  Span op_span;
};
// min(a, b, ...), max(...), abs(x), live(r), t(F): `t` takes an operation
// letter, which the grammar gives as a NameRef.
struct CallExpr {
  Identifier callee;
  std::vector<ExprPtr> args;
};
// cond ? a : b
struct ConditionalExpr {
  ExprPtr condition, then_value, else_value;
};

struct Expr {
  Span span;
  std::variant<IntLiteral, NameRef, UnaryExpr, BinaryExpr, CallExpr,
               ConditionalExpr>
      node;
};

// ---- Statements of a rank program -----------------------------------------

enum class OpLetter : uint8_t { kF, kB, kI, kW };
inline constexpr size_t kOpLetters = 4;

struct Stmt;
using Block = std::vector<Stmt>;

// F, F[c], F[c]@m; in `slots` and `block` F[c] at t
struct OpStmt {
  OpLetter op;
  ExprPtr chunk, micro_batch, slot;  // null: left out
  Span span;                         // of this one alone
  std::unique_ptr<OpStmt> other;     // F & B: the one on the right, or null
};
struct LetStmt {
  Identifier name;
  ExprPtr value;
};
struct PhaseStmt {
  Identifier name;
  Block body;
};
struct RepeatStmt {
  ExprPtr count;
  Block body;
};
struct ForStmt {
  Identifier name;
  ExprPtr begin, end;
  Block body;
};  // half-open
struct IfStmt {
  ExprPtr condition;
  Block then_body, else_body;
};
struct MacroCall {
  Identifier callee;
  std::vector<ExprPtr> args;
};

struct Stmt {
  Span span;
  std::variant<OpStmt, LetStmt, PhaseStmt, RepeatStmt, ForStmt, IfStmt,
               MacroCall>
      node;
};

// ---- Declarations ---------------------------------------------------------

struct Parameter {
  Identifier name;
  ExprPtr default_value;
};  // null: none

struct MacroDecl {
  Identifier name;
  std::vector<Identifier> params;
  Block body;
};

struct RequireDecl {
  ExprPtr condition;
  std::optional<std::string> message;
};

struct PlaceLinear {};
struct PlaceLoop {
  ExprPtr chunks;
};
struct PlaceVee {};
struct PlaceWave {
  ExprPtr chunks;
};
// custom { stages N; stage EXPR -> rank EXPR, chunk EXPR ... }: each rule
// binds `s` over its range. A rule: `stage s in a..b -> rank E, chunk E` or
// `stage E -> rank E, chunk E` (one stage).
struct CustomRule {
  Span span;
  std::optional<Identifier> variable;  // bound over begin..end
  ExprPtr begin, end;                  // end null: the one stage `begin`
  ExprPtr rank, chunk;                 // chunk null: 0
};
struct PlaceCustom {
  std::vector<CustomRule> rules;
};
struct PlaceDecl {
  std::variant<PlaceLinear, PlaceLoop, PlaceVee, PlaceWave, PlaceCustom> kind;
};

// walk F by (k1, k2, ...): ascending by the tuple, over names c, m (and r).
struct WalkDecl {
  OpLetter op;
  Span op_span;
  std::vector<ExprPtr> key;
};

// How a rank's program is written: its operations one after the other; each
// micro-batch's at time slots; one micro-batch's, repeated.
enum class RankForm : uint8_t { kProgram, kSlots, kBlock };

// rank r { } · rank EXPR { } · rank r in a..b { }; slots and block likewise
struct RankDecl {
  RankForm form = RankForm::kProgram;
  std::optional<Identifier> variable;  // bound to the rank
  ExprPtr begin, end;  // both null: every rank; end null: the rank `begin`
  ExprPtr period;      // of a block
  Block body;
};

// expect LEFT == RIGHT [when COND]; the comparison is the root of `claim`.
struct ExpectDecl {
  ExprPtr claim, condition;
};  // condition null: always

// cost { F = 1.0ms ... } · mem { act = 1GiB ... }: read by ir/cost_text.
struct QuantitiesDecl {
  bool memory = false;  // else costs
  std::string text;     // between the braces
  Span text_span;
};

struct Item {  // one line of a schedule's body, in source order
  Span span;
  std::variant<RequireDecl, LetStmt, PlaceDecl, WalkDecl, RankDecl, PhaseStmt,
               MacroDecl, ExpectDecl, QuantitiesDecl>
      node;
};

struct ScheduleDecl {
  Span span;
  Identifier name;
  std::vector<Parameter> params;
  std::optional<Identifier> parent;  // extends
  std::vector<Item> items;
};

struct ImportDecl {
  Span span;
  std::string path;
};

struct File {
  uint32_t file = 0;  // FileId
  std::vector<ImportDecl> imports;
  std::vector<MacroDecl> macros;
  std::vector<ScheduleDecl> schedules;
};

}  // namespace pp::ast
