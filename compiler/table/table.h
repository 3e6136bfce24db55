// PyTorch's schedule tables (torch.distributed.pipelining, `_load_csv`): one
// row a rank, one cell a time step.
//
//   0F0   1B3   2I0   2W0              compute: stage, kind, micro-batch
//   0SEND_F0  1RECV_F0  1SEND_B0  0RECV_B0
//   0UNSHARD  0RESHARD  0REDUCE_GRAD   of a stage
//   (0F1;3B0)OVERLAP_F_B               `F & B` of a schedule
//
// Blanks around a cell, empty cells (idle steps), empty lines, Windows line
// ends, a trailing comma and a byte order mark are accepted. P is the number of
// rows, S and M follow from the cells; a stage lives on the row it appears in.
//
// A table that has `W` but no `I` is refused: written before PyTorch had both,
// it means the input gradient by `B`, and today's runtime would add every
// weight gradient twice.
#pragma once

#include <optional>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/schedule.h"
#include "compiler/source/source_manager.h"
#include "runtime/bytecode/module.h"

namespace pp::table {

enum class CellKind : uint8_t {
  kF,
  kB,
  kI,
  kW,
  kSendF,
  kRecvF,
  kSendB,
  kRecvB,
  kUnshard,
  kReshard,
  kReduceGrad,
};
bool IsCompute(CellKind kind);
bool IsComm(CellKind kind);
ir::OpKind OpKindOf(CellKind kind);  // of one that computes

struct Cell {
  CellKind kind{};
  uint32_t stage = 0;
  uint32_t mb = 0;  // of those that have one
  source::Span span;
  bool joined = false;  // overlapped with the next one
};

struct Table {
  std::vector<std::vector<Cell>> rows;  // by rank; idle steps left out
  bool has_comm = false;                // some SEND or RECV is written
  bool has_reduce_grad = false;
};

// nullopt with errors in `diag`, each at its cell.
std::optional<Table> Parse(const source::SourceManager& sources, uint32_t file,
                           diag::Emitter& diag);

// The compute cells as a schedule named `name`, each cell a site. nullopt: a
// stage is on no row or on two (errors in `diag`). Whether each operation is
// there once and in order is check/'s question.
std::optional<ir::Schedule> ToSchedule(const Table& table, std::string name,
                                       uint32_t file, diag::Emitter& diag);

// The table with its own communication as bytecode, of which nothing is known
// yet but that it can be judged: sends and receives are issued where they
// stand, a receive is waited for by the operation that reads it, sends at the
// end of the step, gradients are scaled and weights updated there. `schedule`
// is ToSchedule's and has passed check::CheckSchedule. nullopt: a cell cannot
// be (a message to the rank itself, a send of what is not computed yet).
std::optional<bytecode::Module> ToModule(const Table& table,
                                         const ir::Schedule& schedule,
                                         const source::SourceManager& sources,
                                         diag::Emitter& diag);

// A schedule as a compute-only table.
std::string Print(const ir::Schedule& schedule);
// Bytecode as a table with communication, as PyTorch loads it
// (format="compute_comms"). WAIT, FREE and groups have no cell; SCALE becomes
// REDUCE_GRAD.
std::string Print(const bytecode::Module& module);

}  // namespace pp::table
