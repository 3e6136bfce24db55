#include "compiler/lower/update_tail.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pp::lower {
namespace {

namespace op = bytecode::op;

Rank HolderOf(const bytecode::Module& module, StageId stage) {
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    for (const bytecode::ChunkInfo& chunk : module.programs[r].chunks) {
      if (chunk.stage == stage) return Rank{r};
    }
  }
  return Rank{0};  // every stage has a holder
}

std::vector<ChunkId> InStageOrder(const bytecode::RankProgram& program) {
  std::vector<ChunkId> chunks;
  for (uint32_t c = 0; c < program.chunks.size(); ++c) {
    chunks.emplace_back(c);
  }
  std::sort(chunks.begin(), chunks.end(), [&](ChunkId a, ChunkId b) {
    return program.chunks[a.value].stage < program.chunks[b.value].stage;
  });
  return chunks;
}

void Append(bytecode::RankProgram& program, const bytecode::Instr& instr) {
  program.code.push_back(instr);
  program.debug.emplace_back();  // made by the compiler: no site
}

}  // namespace

std::optional<GroupId> AddTiedGroup(bytecode::Module& module) {
  const Rank first = HolderOf(module, StageId{0});
  const Rank last = HolderOf(module, StageId{module.stages - 1});
  if (first == last) return std::nullopt;
  module.groups.push_back({.kind = bytecode::GroupKind::kTied,
                           .stage = StageId{0},
                           .ranks = {first, last}});
  return GroupId{static_cast<uint32_t>(module.groups.size() - 1)};
}

void AppendUpdateTail(const bytecode::Module& frame,
                      std::optional<GroupId> tied, Rank rank,
                      bytecode::RankProgram& program) {
  const auto reduces = [&] {
    if (!tied) return false;
    const auto& members = frame.groups[tied->value].ranks;
    return std::find(members.begin(), members.end(), rank) != members.end();
  };
  const std::vector<ChunkId> chunks = InStageOrder(program);
  for (ChunkId c : chunks) Append(program, op::Scale{.chunk = c}.Pack());
  if (reduces()) Append(program, op::Reduce{.group = *tied}.Pack());
  for (ChunkId c : chunks) Append(program, op::Update{.chunk = c}.Pack());
}

void AppendUpdateTail(bytecode::Module& module) {
  const auto tied = AddTiedGroup(module);
  for (uint32_t r = 0; r < module.ranks(); ++r) {
    AppendUpdateTail(module, tied, Rank{r}, module.programs[r]);
  }
}

}  // namespace pp::lower
