// The machine: walks one rank's verified instructions, one host thread.
//
// Input: a module that Verify accepted, an engine, a transport. It keeps slots
// (Buffers) and requests, counts stashed activations, records events. It knows
// no Torch, no NCCL and starts no thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/base/status.h"
#include "runtime/bytecode/module.h"
#include "runtime/engine/engine.h"
#include "runtime/trace/event.h"
#include "runtime/transport/transport.h"

namespace pp::vm {

struct StepResult {
  int64_t begin_ns = 0;  // start of the first compute instruction
  int64_t end_ns = 0;    // end of the last compute instruction
  int64_t busy_ns = 0;   // time in compute instructions
  uint64_t instructions = 0;
  uint32_t peak_activations = 0;  // most stashes held at once, in chunks
};

// Where the rank is, for a watchdog on another thread.
struct Position {
  std::atomic<uint64_t> step{0};
  std::atomic<uint32_t> pc{0};
  std::atomic<int64_t> since_ns{0};  // when the instruction began
};

// Something that goes wrong on purpose, before one instruction: for tests.
struct Fault {
  uint64_t step = 0;
  uint32_t pc = UINT32_MAX;  // none
  std::function<Status()> act{};
};

struct VmOptions {
  std::chrono::milliseconds timeout{60000};  // of one wait
  trace::RankTrace* trace = nullptr;         // records when given
  Fault fault{};
};

class Vm {
 public:
  Vm(const bytecode::Module& module, Rank rank, engine::Engine& engine,
     transport::Transport& transport, VmOptions options);
  ~Vm();

  // All instructions of the rank once. On failure the message names rank, pc,
  // instruction, source line and cause, and the transport has been aborted.
  Result<StepResult> RunStep(uint64_t step);

  const Position& position() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pp::vm
