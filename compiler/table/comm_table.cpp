// Tables with communication of their own: to bytecode and back.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "compiler/analysis/compute_ref.h"
#include "compiler/analysis/in_order.h"
#include "compiler/lower/free_list.h"
#include "compiler/lower/update_tail.h"
#include "compiler/table/table.h"
#include "runtime/bytecode/instr.h"

namespace pp::table {
namespace {

namespace op = bytecode::op;
using bytecode::Instr;
using bytecode::kNoSlot;
using bytecode::Payload;
using diag::Code;

// PyTorch matches by order on one channel a pair of ranks.
constexpr LaneId kLane{0};

struct TensorKey {
  Payload payload;
  uint32_t stage;  // whose output or input gradient it is
  uint32_t mb;
  friend auto operator<=>(const TensorKey&, const TensorKey&) = default;
};

// One row as instructions.
class RowWriter {
 public:
  RowWriter(const Table& table, const ir::Schedule& schedule, Rank rank,
            const source::SourceManager& sources, bytecode::Module& module,
            diag::Emitter& diag)
      : cells_(table.rows[rank.value]),
        schedule_(schedule),
        rank_(rank),
        sources_(sources),
        module_(module),
        program_(module.programs[rank.value]),
        diag_(diag) {}

  bool Run() {
    for (const Cell& cell : cells_) {
      site_ = AddSite(cell);
      if (IsCompute(cell.kind)) Compute(cell);
      if (IsComm(cell.kind)) Communicate(cell);
    }
    for (const auto& [slot, cell] : arriving_) {
      Fault(*cell, "what it receives is not read after it");
    }
    site_ = bytecode::kNoSite;
    for (const uint32_t slot : sending_) {
      Emit(op::Wait{SlotId{slot}}.Pack());
      Emit(op::Free{SlotId{slot}}.Pack());
    }
    // What was to be sent and is not: the check names the one who waits for it.
    for (const auto& [key, slot] : held_) Emit(op::Free{SlotId{slot}}.Pack());
    program_.slots = slots_.count();
    program_.stashes = stashes_.count();
    return ok_;
  }

 private:
  uint32_t AddSite(const Cell& cell) {
    const auto at = sources_.Resolve(cell.span.file, cell.span.begin);
    module_.sites.push_back(
        {sources_.Name(cell.span.file), at.line, at.column, ""});
    return static_cast<uint32_t>(module_.sites.size() - 1);
  }

  void Emit(const Instr& instr) {
    program_.code.push_back(instr);
    program_.debug.push_back({site_, 0});
  }

  Rank HomeOf(uint32_t stage) const {
    return schedule_.placement.home[stage].rank;
  }
  uint32_t LastStage() const { return schedule_.placement.stages - 1; }

  bool Fault(const Cell& cell, const std::string& what) {
    ok_ = false;
    diag_.Emit(Code::kTableComm, cell.span, what);
    return false;
  }

  // The slot that the operation reads, waited for; kNoSlot where it reads none.
  SlotId Input(const Cell& cell, std::optional<TensorKey> key) {
    if (!key) return kNoSlot;
    const auto found = held_.find(*key);
    if (found == held_.end()) {
      Fault(cell,
            fmt::format("nothing here receives {} m{} of stage {} from rank {}",
                        key->payload == Payload::kAct ? "the activation"
                                                      : "the gradient",
                        key->mb, key->stage, HomeOf(key->stage).value));
      return kNoSlot;
    }
    const SlotId slot{found->second};
    if (arriving_.erase(slot.value) > 0) Emit(op::Wait{slot}.Pack());
    return slot;
  }

  SlotId Output(std::optional<TensorKey> key) {
    if (!key) return kNoSlot;
    const uint32_t slot = slots_.Take();
    held_[*key] = slot;
    return SlotId{slot};
  }

  void Done(SlotId slot, const std::optional<TensorKey>& key) {
    if (slot == kNoSlot) return;
    Emit(op::Free{slot}.Pack());
    slots_.Return(slot.value);
    held_.erase(*key);
  }

  // Taken by F; given back by B or W.
  StashId Stash(const Cell& cell) {
    uint32_t& stash = stash_[std::pair(cell.stage, cell.mb)];
    if (cell.kind == CellKind::kF) stash = stashes_.Take();
    if (cell.kind == CellKind::kB || cell.kind == CellKind::kW) {
      stashes_.Return(stash);
    }
    return StashId{stash};
  }

  void Compute(const Cell& cell) {
    const ir::OpKind kind = OpKindOf(cell.kind);
    const Payload payload =
        kind == ir::OpKind::kF ? Payload::kAct : Payload::kGrad;
    std::optional<TensorKey> in, out;
    if (const auto need = analysis::NeedOf(schedule_, cell.stage, kind)) {
      in = TensorKey{payload, need->stage, cell.mb};
    }
    if (analysis::ReaderOf(schedule_, cell.stage, kind)) {
      out = TensorKey{payload, cell.stage, cell.mb};
    }
    const SlotId from = Input(cell, in);
    const SlotId into = Output(out);
    Emit(analysis::ComputeInstr(
        {kind, schedule_.placement.home[cell.stage].chunk, cell.mb}, from, into,
        Stash(cell)));
    Done(from, in);
  }

  // Who is at the other end, and what is carried; false: nobody can be.
  bool Ends(const Cell& cell, uint32_t& peer_stage, TensorKey& key) {
    const bool forward =
        cell.kind == CellKind::kSendF || cell.kind == CellKind::kRecvF;
    const bool send =
        cell.kind == CellKind::kSendF || cell.kind == CellKind::kSendB;
    const bool up = forward == send;  // the other end is stage + 1
    if (up ? cell.stage == LastStage() : cell.stage == 0) {
      return Fault(cell, fmt::format("stage {} is the {} and has no stage to "
                                     "{} there",
                                     cell.stage, up ? "last" : "first",
                                     send ? "send to" : "receive from"));
    }
    peer_stage = up ? cell.stage + 1 : cell.stage - 1;
    key = {forward ? Payload::kAct : Payload::kGrad,
           send ? cell.stage : peer_stage, cell.mb};
    if (HomeOf(peer_stage) != rank_) return true;
    return Fault(cell, fmt::format("stages {} and {} are both on rank {}: no "
                                   "message goes between them",
                                   cell.stage, peer_stage, rank_.value));
  }

  void Communicate(const Cell& cell) {
    uint32_t peer_stage = 0;
    TensorKey key{};
    if (!Ends(cell, peer_stage, key)) return;
    const Rank peer = HomeOf(peer_stage);
    const StageId stage{key.stage};
    const MicroBatch mb{cell.mb};
    if (cell.kind == CellKind::kRecvF || cell.kind == CellKind::kRecvB) {
      if (held_.contains(key)) {
        Fault(cell, "it is received a second time");
        return;
      }
      const uint32_t slot = slots_.Take();
      held_[key] = slot;
      arriving_[slot] = &cell;
      Emit(op::Recv{peer, kLane, SlotId{slot}, key.payload, stage, mb}.Pack());
      return;
    }
    const auto found = held_.find(key);
    if (found == held_.end()) {
      Fault(cell, sent_.contains(key)
                      ? "it is sent a second time"
                      : "it is sent before the operation that computes it");
      return;
    }
    const SlotId slot{found->second};
    Emit(op::Send{peer, kLane, slot, key.payload, stage, mb}.Pack());
    sending_.push_back(slot.value);
    sent_.insert(key);
    held_.erase(found);
  }

  const std::vector<Cell>& cells_;
  const ir::Schedule& schedule_;
  const Rank rank_;
  const source::SourceManager& sources_;
  bytecode::Module& module_;
  bytecode::RankProgram& program_;
  diag::Emitter& diag_;
  uint32_t site_ = bytecode::kNoSite;
  bool ok_ = true;
  std::map<TensorKey, uint32_t> held_;  // slot of a tensor that is here
  std::set<TensorKey> sent_;
  std::map<uint32_t, const Cell*> arriving_;  // by slot: a RECV not waited for
  std::vector<uint32_t> sending_;
  lower::FreeList slots_, stashes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> stash_;
};

}  // namespace

std::optional<bytecode::Module> ToModule(const Table& table,
                                         const ir::Schedule& schedule,
                                         const source::SourceManager& sources,
                                         diag::Emitter& diag) {
  bytecode::Module module;
  module.micro_batches = schedule.micro_batches;
  module.stages = schedule.placement.stages;
  module.lanes = schedule.ranks > 1 ? 1 : 0;
  module.programs.resize(schedule.ranks);
  bool ok = true;
  for (uint32_t r = 0; r < schedule.ranks; ++r) {
    for (uint32_t stage : schedule.placement.stage[r]) {
      module.programs[r].chunks.push_back({StageId{stage}, 0});
    }
    ok &= RowWriter(table, schedule, Rank(r), sources, module, diag).Run();
  }
  if (!ok) return std::nullopt;
  if (!table.has_reduce_grad) {
    diag.Emit(Code::kTableNoReduceGrad, schedule.name_span,
              "no REDUCE_GRAD is written: PyTorch would not scale gradients; "
              "here they are, at the end of the step");
  }
  lower::AppendUpdateTail(module);
  return module;
}

std::string Print(const bytecode::Module& module) {
  using bytecode::Opcode;
  std::string text;
  for (const bytecode::RankProgram& program : module.programs) {
    std::string row;
    const auto add = [&](const std::string& cell) {
      row += (row.empty() ? "" : ",") + cell;
    };
    const auto stage = [&](ChunkId chunk) {
      return program.chunks[chunk.value].stage.value;
    };
    for (const Instr& instr : program.code) {
      if (const auto compute = analysis::ComputeOf(instr)) {
        add(fmt::format("{}{}{}", stage(ChunkId{compute->chunk}),
                        ir::kOpNames[static_cast<size_t>(compute->kind)],
                        compute->mb));
        continue;
      }
      switch (instr.op) {
        case Opcode::kSend: {
          const auto i = op::Send::Of(instr);
          add(fmt::format("{}SEND_{}{}", i.stage.value,
                          i.payload == Payload::kAct ? "F" : "B", i.mb.value));
          break;
        }
        case Opcode::kRecv: {
          const auto i = op::Recv::Of(instr);
          // The cell names the stage that receives.
          const bool act = i.payload == Payload::kAct;
          add(fmt::format("{}RECV_{}{}",
                          act ? i.stage.value + 1 : i.stage.value - 1,
                          act ? "F" : "B", i.mb.value));
          break;
        }
        case Opcode::kScale:
          add(fmt::format("{}REDUCE_GRAD", stage(op::Scale::Of(instr).chunk)));
          break;
        default:
          break;
      }
    }
    text += row + "\n";
  }
  return text;
}

}  // namespace pp::table
