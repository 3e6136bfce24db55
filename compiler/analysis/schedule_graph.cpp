#include "compiler/analysis/schedule_graph.h"

#include <algorithm>

#include "compiler/analysis/in_order.h"

namespace pp::analysis {
namespace {

constexpr Node kNone = 0xFFFFFFFF;

bool MakesGradient(ir::OpKind kind) {
  return kind == ir::OpKind::kB || kind == ir::OpKind::kI;
}

// Where each (stage, micro-batch) is run forwards and backwards.
struct Producers {
  std::vector<Node> forward, backward;
};

Producers FindProducers(const ir::Schedule& schedule, const ScheduleGraph& g) {
  const size_t cells =
      size_t{schedule.placement.stages} * schedule.micro_batches;
  Producers found{std::vector<Node>(cells, kNone),
                  std::vector<Node>(cells, kNone)};
  for (uint32_t r = 0; r < schedule.programs.size(); ++r) {
    Node node = g.first[r];
    for (const ir::Op& op : schedule.programs[r]) {
      // Both of a pair have ended when its second one has.
      const bool first = schedule.StartsPair(Rank(r), node - g.first[r]);
      const Node end = first ? node + 1 : node;
      const size_t cell =
          size_t{schedule.StageOf(Rank(r), op.chunk)} * schedule.micro_batches +
          op.mb;
      if (op.kind == ir::OpKind::kF) found.forward[cell] = end;
      if (MakesGradient(op.kind)) found.backward[cell] = node;
      ++node;
    }
  }
  return found;
}

}  // namespace

OpRef ScheduleGraph::OpOf(Node node) const {
  const auto after = std::ranges::upper_bound(first, node);
  const auto rank = static_cast<uint32_t>(after - first.begin() - 1);
  return {Rank(rank), node - first[rank]};
}

ScheduleGraph BuildScheduleGraph(const ir::Schedule& schedule) {
  ScheduleGraph result;
  EventGraphBuilder builder;
  for (const auto& program : schedule.programs) {
    result.first.push_back(builder.AddNodes(program.size()));
  }
  const Producers producers = FindProducers(schedule, result);
  for (uint32_t r = 0; r < schedule.programs.size(); ++r) {
    Node node = result.first[r];
    bool head = true;
    for (const ir::Op& op : schedule.programs[r]) {
      if (!head) builder.AddEdge(node - 1, node, EdgeClass::kProg);
      head = false;
      const uint32_t stage = schedule.StageOf(Rank(r), op.chunk);
      if (const auto need = NeedOf(schedule, stage, op.kind)) {
        const size_t cell =
            size_t{need->stage} * schedule.micro_batches + op.mb;
        const Node from =
            (need->forward ? producers.forward : producers.backward)[cell];
        // The first of a pair waits for what the second needs, too.
        const bool second = schedule.EndsPair(Rank(r), node - result.first[r]);
        const Node reader = second ? node - 1 : node;
        if (from != kNone) builder.AddEdge(from, reader, EdgeClass::kData);
      }
      ++node;
    }
  }
  result.graph = std::move(builder).Build();
  return result;
}

}  // namespace pp::analysis
