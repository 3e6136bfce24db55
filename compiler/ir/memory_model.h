// What a stage keeps in memory, in bytes: given by the user for any model of
// any size, so that a schedule can be judged without running it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/cost_model.h"

namespace pp::ir {

struct StageMemory {
  Bytes act = 0;      // activations of one micro-batch, from F to the backward
  Bytes after_i = 0;  // what of them stays from I to W (Qi et al. 2024, M_W)
  Bytes weights = 0;
  Bytes gradients = 0;
  Bytes optimizer = 0;

  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

// What an operation adds to the activations of its rank: when it begins, and
// when it ends. B and I free what they read once they are done with it.
struct ActivationChange {
  Bytes begin = 0, end = 0;
};

inline ActivationChange ChangeOf(OpKind kind, Bytes act, Bytes after_i) {
  switch (kind) {
    case OpKind::kF:
      return {act, 0};
    case OpKind::kB:
      return {0, -act};
    case OpKind::kI:
      return {0, after_i - act};
    case OpKind::kW:
      return {0, -after_i};
  }
  return {};
}

// What `act.after_I` is where it is not given: all of a stage's `act`, unless
// less is said to stay on every stage.
inline Bytes AfterIDefault(Bytes act, const StageMemory& each) {
  return each.after_i == each.act ? act : each.after_i;
}

struct MemoryModel {
  StageMemory each;                // of every stage
  std::vector<StageMemory> stage;  // by stage, up to the last that differs
  std::optional<Bytes> limit;      // of one rank

  const StageMemory& Of(uint32_t of_stage) const {
    return of_stage < stage.size() ? stage[of_stage] : each;
  }
};

std::string Print(const MemoryModel& memory);  // canonical, reads back

}  // namespace pp::ir
