// Checkpoints: all that a run needs to go on as if it had never stopped.
//
// One file each, FOLDER/step-0000000010.safetensors after 10 steps: parameters
// and optimizer state by the model's names, so P, M and schedule are free; as
// metadata the steps, and the options that decide the numbers. Batches depend
// on seed and step alone (models/model.h), so there is no other state. A file
// is written aside and renamed: what has its name is whole. The newest two are
// kept.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/launch/options.h"
#include "runtime/launch/weights.h"

namespace pp::launch {

// Before a run. With --resume, and a checkpoint there: it becomes what the
// engine starts from. Of the process that leads: the folder is made, and what a
// killed run left unfinished in it is removed.
// kUsage: a folder that has checkpoints, without --resume; nothing left to do.
// kInput: the newest one is damaged, or is of a run with other options, by name
// and option. kMachine: the folder cannot be used.
Status SettleCheckpoint(Options& options, bool leads);

// kMachine; the older ones are as they were.
Status SaveCheckpoint(const Options& options, uint64_t steps,
                      const WeightMap& all);

}  // namespace pp::launch
