// Modules from the short notation in which field reports are told: one text a
// rank, operations in the order in which the host issues them.
//
//   F0 B0 I0 W0        compute, micro-batch 0, the rank's only chunk
//   F2.1               of stage 2, micro-batch 1, where a rank has several
//   SF0>1 RF0<0        send the output (SB, RB: the gradient of the input) of
//   SF2.1>1            this rank's stage to rank 1; receive, of the stage
//                      before (after), from rank 0; or of the stage named
//   [ ... ]            a group
//   S0 A1 U0           scale chunk 0, reduce over group g1, update chunk 0
//   wSF0 wRB1          wait for it here; else a receive is waited for before
//                      the compute operation that reads it, a send at the end
//
// Slots are given out and freed (after the reading operation; sends at the
// end) by themselves, one for each tensor. Lane: 0 for F, 1 for B, or `lane`
// for all. A rank without U gets its end of step: S, A of its groups, U.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/bytecode/module.h"

namespace pp::testing {

struct Notation {
  std::vector<std::vector<uint32_t>> chunks =
      {};  // by rank: stages; empty: linear
  uint32_t micro_batches = 1;
  std::optional<uint32_t> lane = std::nullopt;
  std::vector<bytecode::Group> groups = {};
  uint32_t replicas = 1;
};

bytecode::Module FromNotation(const std::vector<std::string>& ranks,
                              Notation notation = {});

}  // namespace pp::testing
