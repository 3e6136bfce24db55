#include "runtime/transport/nccl/plan.h"

#include <algorithm>
#include <set>

namespace pp::transport::nccl {
namespace {

CommPlan FromEdges(const std::set<Edge>& edges) {
  std::set<Rank> members;
  for (const Edge& edge : edges) members.insert({edge.from, edge.to});
  return {{members.begin(), members.end()}, {edges.begin(), edges.end()}};
}

void AddPairs(const std::vector<Rank>& ranks, std::set<Edge>* edges) {
  for (Rank from : ranks) {
    for (Rank to : ranks) {
      if (from != to) edges->insert({from, to});
    }
  }
}

}  // namespace

bool CommPlan::Has(Rank rank) const {
  return std::binary_search(members.begin(), members.end(), rank);
}

Plan MakePlan(const bytecode::Module& module) {
  std::vector<std::set<Edge>> lanes(module.lanes);
  for (uint32_t rank = 0; rank < module.ranks(); ++rank) {
    for (const bytecode::Instr& instr : module.programs[rank].code) {
      if (instr.op != bytecode::Opcode::kSend) continue;
      const auto send = bytecode::op::Send::Of(instr);
      lanes[send.lane.value].insert({Rank(rank), send.peer});
    }
  }
  Plan plan;
  for (const std::set<Edge>& edges : lanes) {
    plan.lanes.push_back(FromEdges(edges));
  }
  std::set<Edge> sums;
  for (const bytecode::Group& group : module.groups) {
    AddPairs(group.ranks, &sums);
  }
  plan.sums = FromEdges(sums);
  return plan;
}

Plan FullPlan(uint32_t ranks, uint32_t lanes) {
  std::vector<Rank> all;
  for (uint32_t r = 0; r < ranks; ++r) all.push_back(Rank(r));
  std::set<Edge> edges;
  AddPairs(all, &edges);
  const CommPlan full = FromEdges(edges);
  return {std::vector<CommPlan>(lanes, full), full};
}

}  // namespace pp::transport::nccl
