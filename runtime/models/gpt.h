// A byte-level GPT (Radford et al., 2019): learned positions, blocks with the
// layer norm first, causal attention, GELU; no dropout.
//
// Tokens are bytes (vocabulary 256); the loss is the cross-entropy of the next
// byte, a unit is a token. Parameters: embed.weight, positions.weight,
// blocks.N.{ln1,attn.qkv,attn.proj,ln2,mlp.up,mlp.down}.{weight,bias},
// ln_f.{weight,bias}, head.weight; with tie=1 the head uses embed.weight.
// Weights start normal with deviation 0.02, those that end a residual branch
// with 0.02 / sqrt(2 layers); biases zero.
#pragma once

#include <memory>

#include "runtime/base/status.h"
#include "runtime/models/model.h"

namespace pp::models {

Result<std::shared_ptr<const Model>> MakeGpt(const ModelConfig& config);

}  // namespace pp::models
