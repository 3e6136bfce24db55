// What a run is asked for and what comes out of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"
#include "runtime/launch/inject.h"
#include "runtime/launch/verify_gradients.h"
#include "runtime/launch/weights.h"
#include "runtime/trace/event.h"
#include "runtime/trace/summary.h"

namespace pp::launch {

// One complete step of all ranks.
struct StepRecord {
  uint64_t step = 0;
  double loss = 0;     // mean over the whole batch
  double seconds = 0;  // from the first rank's begin to the last rank's end
  trace::Summary summary;
  std::vector<uint32_t> peak_activations;  // by rank, counted in chunks
  std::vector<uint64_t> instructions;      // by rank
};

struct RunOptions {
  uint64_t steps = 1;
  std::chrono::milliseconds timeout{60'000};  // of one instruction
  std::chrono::milliseconds grace{5'000};  // for ranks to end after a failure
  bool trace = false;
  bool verify_gradients = false;
  bool save_weights = false;
  // Steps before this one have been run: `steps` counts them too.
  uint64_t first_step = 0;
  uint64_t checkpoint_every = 0;  // steps; 0: never
  // Takes the weights and the optimizer's state after so many steps, on the
  // calling thread, while all ranks wait. Not ok: the run ends.
  std::function<Status(uint64_t steps, const WeightMap&)> on_checkpoint{};

  bool CheckpointAfter(uint64_t done) const {
    return checkpoint_every != 0 &&
           (done % checkpoint_every == 0 || done == steps);
  }
  bool WeightsAfter(uint64_t done) const {
    return CheckpointAfter(done) || (save_weights && done == steps);
  }
  std::optional<Injection> inject{};
  // Asked now and then: the name of a signal that ends the run, or null.
  std::function<const char*()> stop_asked{};
  // After each step, on the calling thread, while all ranks wait.
  std::function<void(const StepRecord&)> on_step{};
};

struct RunResult {
  // Of the first steps so many warm up: they are not timed. At least one step
  // is, whatever this says.
  uint64_t warmup = 1;
  Status status;                             // of the first failure
  std::vector<StepRecord> steps;             // the complete ones
  std::vector<engine::MemoryReport> memory;  // by rank, after the last of them
  std::vector<trace::RankTrace> traces;      // by rank, when asked for
  std::optional<GradientCheck> gradients;
  WeightMap weights;  // after the last step, when asked for
  // After a failure: where each rank was, one line each.
  std::vector<std::string> positions;
  // A rank did not end within the grace: its thread still runs. The caller
  // must end the process without destroying what RunThreads was given.
  bool abandoned = false;
};

}  // namespace pp::launch
