// What the handlers of instructions work on. Internal to this folder.
#pragma once

#include <optional>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/vm/vm.h"

namespace pp::vm {

// A boundary tensor, and the transfer in flight on it.
struct Slot {
  Buffer buffer;
  std::optional<transport::RequestId> request;
  bool receives = false;
  LaneId lane;
  uint32_t issue_pc = 0;
  int64_t issue_ns = 0;
};

// Where calls only queue work: what an instruction put between two marks.
struct QueuedSpan {
  uint32_t pc = 0;
  device::Mark begin, end;
};

struct QueuedTransfer {
  uint32_t issue_pc = 0;
  LaneId lane;
  transport::TransferMarks marks;
};

struct Machine {
  const bytecode::Module& module;
  const bytecode::RankProgram& program;
  Rank rank;
  engine::Engine& engine;
  transport::Transport& transport;
  VmOptions options;
  bool zero_copy;

  std::vector<Slot> slots;
  Position position{};

  uint64_t step = 0;
  uint32_t pc = 0;
  int64_t now_ns = 0;  // when the current instruction began
  uint32_t held = 0;   // stashes held now
  StepResult result{};

  // On a GPU; null: instructions have run when they return.
  std::shared_ptr<device::Queue> queue{};
  device::Mark last_mark{};
  std::vector<QueuedSpan> queued{};
  std::vector<QueuedTransfer> queued_transfers{};

  Buffer* At(SlotId slot) {
    return slot == bytecode::kNoSlot ? nullptr : &slots[slot.value].buffer;
  }
  transport::Deadline Deadline() const {
    return std::chrono::steady_clock::now() + options.timeout;
  }
  void Record(trace::EventKind kind, int64_t begin_ns, int64_t end_ns) {
    if (options.trace == nullptr) return;
    options.trace->push_back(
        {kind, static_cast<uint32_t>(step), pc, 0, begin_ns, end_ns});
  }
};

}  // namespace pp::vm
