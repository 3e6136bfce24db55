// Operations with weights, whose backward comes in two halves.
//
// Each is an autograd node of its own. Its backward returns the gradient of
// the input and hands the weight half to the tape (weight_tape.h); so `I`
// computes no weight gradient and `W` no input gradient. Operations without
// weights (GELU, attention, losses) are plain autograd.
//
// All tensors float32 on the CPU. Mistaken shapes throw c10::Error.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/models/parameter_store.h"
#include "runtime/models/weight_tape.h"

namespace pp::models {

// x [..., in], weight [out, in], bias [out] or null -> [..., out].
at::Tensor Linear(const at::Tensor& x, WeightUse* weight, WeightUse* bias,
                  WeightTape& tape);

// Over the last dimension (Ba, Kiros & Hinton, arXiv:1607.06450), eps 1e-5.
at::Tensor LayerNorm(const at::Tensor& x, WeightUse* weight, WeightUse* bias,
                     WeightTape& tape);

// tokens [rows, time] int64 -> table[token] + positions[time], [rows, time,
// dim]. table [vocabulary, dim], positions [context >= time, dim].
at::Tensor Embedding(const at::Tensor& tokens, WeightUse* table,
                     WeightUse* positions, WeightTape& tape);

}  // namespace pp::models
