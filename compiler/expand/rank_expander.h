// Runs the program of one rank after the other and writes down the operations.
//
// Private to expand/.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/expand/cursors.h"
#include "compiler/expand/fault_log.h"
#include "compiler/expand/instance.h"
#include "compiler/expand/walk.h"
#include "compiler/ir/schedule.h"
#include "compiler/sema/program.h"

namespace pp::expand {

class RankExpander {
 public:
  RankExpander(Instance& instance, uint64_t max_ops, ir::Schedule& schedule,
               FaultLog& log);

  // Appends the operations of `rank` to schedule.programs. False once the
  // limit is passed: there is no use in going on with other ranks.
  bool Run(uint32_t rank, const sema::RankBlock& block);

 private:
  struct SiteCache {
    uint32_t phase = sema::kNone - 1;
    uint32_t site = 0;
  };

  bool PrepareWalks();
  void Exec(sema::BlockRange block);
  void ExecStmt(const sema::Stmt& stmt);
  void ExecOp(const sema::Stmt& stmt);
  // ---- Time slots (rank_slots.cpp) ----
  struct Placed {
    int64_t slot = 0;
    ir::Op op;
    source::Span span;
  };
  void RunSlots(const sema::RankBlock& block);
  void RunBlock(const sema::RankBlock& block);
  void Place(const sema::Stmt& stmt);
  bool Repeat(int64_t period, const sema::RankBlock& block);
  bool SortPlaced(bool lengths);
  void FillIdle();

  void ExecRepeat(const sema::Stmt& stmt);
  void ExecFor(const sema::Stmt& stmt);
  void ExecIf(const sema::Stmt& stmt);
  void ExecPhase(const sema::Stmt& stmt);
  void ExecCall(const sema::Stmt& stmt);
  // The (chunk, micro-batch) that `stmt` names; false after a fault.
  bool Choose(const sema::Stmt& stmt, OpGroup group, WalkStep& step);
  bool ChooseChunk(const sema::Stmt& stmt, int64_t& chunk);
  bool ChooseExplicit(const sema::Stmt& stmt, OpGroup group, int64_t chunk,
                      WalkStep& step);
  void Append(const sema::Stmt& stmt, WalkStep step);
  void MarkPair();
  uint32_t SiteOf(const sema::Stmt& stmt);
  bool Evaluate(sema::ExprId expr, int64_t& value);

  // ---- Faults ----
  void Report(Taken taken, const sema::Stmt& stmt, bool chunk_named,
              WalkStep step);
  void Add(diag::Code code, source::Span span, std::string message,
           sema::ExprId expr = sema::kNone, std::string help = "",
           std::vector<diag::Note> notes = {});
  void OutOfRange(sema::ExprId expr, const char* what, int64_t value,
                  uint32_t count);
  void TooMany(const sema::Stmt& stmt, const char* what);
  std::string Where(sema::ExprId expr) const;
  std::string OnRank() const;

  Instance& instance_;
  const sema::Program& program_;
  Evaluator& eval_;
  const sema::Stmt* stmts_;
  uint64_t max_ops_;
  ir::Schedule& schedule_;
  FaultLog& log_;
  Cursors cursors_;
  std::array<WalkOrder, sema::kCursors> walk_orders_;
  std::array<uint32_t, sema::kCursors> walk_chunks_{};  // 0: none sorted yet

  ast::RankForm form_{};
  uint32_t mb_ = 0;                       // of what is placed
  std::vector<Placed> placed_;            // of this rank
  std::vector<const sema::Stmt*> fills_;  // by chunk: its W without a slot

  std::vector<ir::Op>* out_ = nullptr;
  uint32_t rank_ = 0;
  uint32_t chunks_ = 0;
  uint32_t phase_ = sema::kNone;
  uint32_t iteration_ = 0;
  bool in_loop_ = false;
  bool stop_ = false;                  // this rank
  bool fatal_ = false;                 // all ranks
  uint64_t ops_ = 0;                   // of all ranks
  uint64_t steps_ = 0;                 // statements run, of all ranks
  std::vector<SiteCache> site_cache_;  // by statement
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> sites_;
};

}  // namespace pp::expand
