// A model of the user's own: TorchScript modules, one a stage, run in order.
//
// The first takes the rows of `input`, each next one what the one before gives,
// one float32 tensor of as many rows; shapes are found by running. `--data` is
// a safetensors file with the tensors `input` and `target` (F32 or I64, rows
// first); step t takes its rows from t x batch on, around the end. Parameters
// are named stageN.NAME; weights start as in the files. The loss is `mse`
// (squared error, a unit is an element), `cross_entropy` (classes last, a unit
// is a target) or a module that takes output and target and gives one loss a
// unit.
//
// The weight half of a backward (W) of such a module goes through its graph
// once more: what I and W share is computed twice. B does nothing twice.
#pragma once

#include <memory>

#include "runtime/base/status.h"
#include "runtime/models/model.h"

namespace pp::models {

// kUsage: no files, no data, no such loss. kInput, naming the file: one is not
// there or no TorchScript, a stage cannot take what the one before gives, gives
// no float32 tensor with a row for each row, or has no parameters that can
// learn; the data do not fit.
Result<std::shared_ptr<const Model>> MakeScript(const ModelConfig& config);

}  // namespace pp::models
