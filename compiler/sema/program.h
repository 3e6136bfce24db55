// A schedule with every name resolved: what sema/ hands to expand/.
//
// Expressions and statements lie in flat arrays and refer to each other by
// index; variables are slots of one frame. There is no recursion, so each
// loop variable, `let` and macro parameter has one fixed slot, and expansion
// needs no call frames, no look-ups of names and no allocation.
//
// Private to sema/ and expand/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/source/source_manager.h"

namespace pp::sema {

using source::Span;
using ExprId = uint32_t;  // into Program::exprs
using Slot = uint32_t;    // into the frame
inline constexpr uint32_t kNone = UINT32_MAX;

enum class ExprKind : uint8_t {
  kConst,  // value
  kSlot,   // a = slot
  kNegate,
  kNot,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kMin,
  kMax,
  kAbs,
  kSelect,  // a ? b : c
  // Only in `expect`. Times are in ticks.
  kUnits,     // a plain number as a time
  kExactDiv,  // time / number, without remainder or a fault
  kCost,      // value = OpLetter: t(F)
  kPairCost,  // t(F & B)
  kBubble,
  kMakespan,
  kMessages,
  kLive,  // a = rank
};

struct Expr {
  ExprKind kind{};
  uint32_t a = kNone, b = kNone, c = kNone;
  int64_t value = 0;
  Span span;
};

enum class Dimension : uint8_t { kNumber, kTime };

struct BlockRange {  // into Program::stmts
  uint32_t begin = 0, end = 0;
};

enum class StmtKind : uint8_t {
  kOp,      // a = chunk, b = micro-batch, at = slot; each may be kNone
  kLet,     // slot := a
  kPhase,   // index = into phases; body
  kRepeat,  // a = count; body
  kFor,     // slot over a..b; body
  kIf,      // a = condition; body, other
  kCall,    // index = into macros, args from `first_arg` on
};

struct Stmt {
  StmtKind kind{};
  ast::OpLetter op{};
  ExprId a = kNone, b = kNone, at = kNone;
  Slot slot = kNone;
  uint32_t index = kNone;
  uint32_t first_arg = 0;
  BlockRange body, other;
  Span span;
  bool paired = false;  // kOp: an F, run at once with the statement behind it
};

struct Macro {
  std::vector<Slot> params;
  BlockRange body;
};

struct Param {  // the slot of a parameter is its index
  std::string name;
  ExprId default_value = kNone;
  Span span;
};

struct Let {  // of the schedule; in an order in which each sees what it needs
  std::string name;
  Slot slot = kNone;
  ExprId value = kNone;
};

struct Require {
  ExprId condition = kNone;
  uint32_t lets = 0;    // it needs none of the schedule's lets from here on
  std::string message;  // may be empty
  std::string text;     // of the condition
  Span span;
};

struct Linear {};
struct Loop {
  ExprId chunks = kNone;
};
struct Vee {};
struct Wave {
  ExprId chunks = kNone;
};
struct Rule {
  Slot slot = kNone;                   // bound to the stage, if named
  ExprId begin = kNone, end = kNone;   // end kNone: the one stage `begin`
  ExprId rank = kNone, chunk = kNone;  // chunk kNone: 0
  Span span;
};
struct Custom {
  std::vector<Rule> rules;
};

struct Placement {
  std::variant<Linear, Loop, Vee, Wave, Custom> kind;
  Span span;
};

struct Walk {
  std::vector<ExprId> key;
  Slot chunk = kNone, micro_batch = kNone, rank = kNone;
  bool uses_rank = false;  // else the same for every rank of as many chunks
  Span span;
};

// Which cursor an operation moves: B and I share one. W has none of its own.
enum class CursorId : uint8_t { kForward, kBackward };
inline constexpr size_t kCursors = 2;

struct RankBlock {
  ast::RankForm form{};
  ExprId period = kNone;              // of a block
  Slot micro_batch = kNone;           // bound to it in `slots`
  Slot slot = kNone;                  // bound to the rank, if named
  ExprId begin = kNone, end = kNone;  // both kNone: every rank; end kNone: one
  BlockRange body;
  Span span;  // of what says which ranks
};

struct Expect {
  ExprKind comparison{};
  ExprId left = kNone, right = kNone, condition = kNone;
  Slot rank = kNone;      // `r`
  bool per_rank = false;  // mentions r: a claim about each rank
  Dimension dimension{};
  std::string text;  // of the claim
  Span span;
};

struct Program {
  std::string name;
  Span name_span;
  std::vector<Param> params;
  Slot ranks = kNone, micro_batches = kNone;  // P, M
  std::vector<Let> lets;
  std::vector<Require> requires_;
  Placement placement;
  std::array<std::optional<Walk>, kCursors> walks;
  std::vector<RankBlock> rank_blocks;
  std::vector<Expect> expects;

  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<ExprId> args;
  std::vector<Macro> macros;
  std::vector<std::string> phases;
  std::vector<std::string> slot_names;
  uint32_t slots = 0;
  bool explicit_w = false;  // some `W@m` is written
};

}  // namespace pp::sema
