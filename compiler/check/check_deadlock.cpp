// Rule: under the tier that is assumed (analysis/module_graph.h) no events wait
// for each other in a circle. Codes: DependencyCycle (4003) if compute order
// and data alone close a circle (a fault of the schedule, whatever carries the
// data), else CommunicationDeadlock (4006). Cost: linear; for the message a
// search with a budget.
//
//   rank 0: send act s0 m1; recv grad s1 m0
//   rank 1: send grad s1 m0; recv act s0 m1      // each sends first
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/analysis/cycles.h"
#include "compiler/analysis/module_graph.h"
#include "compiler/analysis/strict_run.h"
#include "compiler/check/checks.h"
#include "compiler/check/module_where.h"
#include "compiler/check/sets.h"

namespace pp::check {
namespace {

using analysis::CycleStep;
using analysis::EdgeClass;
using analysis::EdgeMask;
using analysis::Event;
using analysis::EventKind;
using analysis::ModuleGraph;
using analysis::Node;
using bytecode::Module;

constexpr EdgeMask kScheduleEdges =
    analysis::MaskOf(EdgeClass::kProg) | analysis::MaskOf(EdgeClass::kData);

// `before` must come before `after`, for a reason that lies on `rank`.
struct Hop {
  Rank rank;
  InstrRef before, after;
  EdgeClass why;
};

class Explainer {
 public:
  Explainer(const Module& module, const ModuleGraph& graph,
            const std::vector<CycleStep>& cycle)
      : module_(module), graph_(graph), cycle_(cycle) {}

  // Against the edges, as a person follows the waiting: each `before` is, seen
  // from the rank of the next hop, the next `after`. Begins at the lowest rank.
  std::vector<Hop> Hops() const {
    std::vector<Hop> hops;
    for (size_t i = 0; i < cycle_.size(); ++i) {
      const Event& from = graph_.events[cycle_[i].from];
      const Event& to = graph_.events[cycle_[(i + 1) % cycle_.size()].from];
      const auto rank = SharedRank(from, to, cycle_[i].edge_class);
      if (!rank) continue;
      hops.push_back({*rank, SideOn(from, *rank), SideOn(to, *rank),
                      cycle_[i].edge_class});
    }
    MergeRuns(hops);
    std::ranges::reverse(hops);
    const auto lowest = std::ranges::min_element(
        hops, {}, [](const Hop& h) { return std::pair(h.rank, h.before.pc); });
    // Not ranges::rotate: Clang 14 cannot read that part of GCC 12's library.
    std::rotate(hops.begin(), lowest, hops.end());
    return hops;
  }

  std::set<EdgeClass> Classes() const {
    std::set<EdgeClass> classes;
    for (const CycleStep& step : cycle_) classes.insert(step.edge_class);
    return classes;
  }

 private:
  // The event's instruction on `rank`.
  InstrRef SideOn(const Event& event, Rank rank) const {
    if (event.kind == EventKind::kCollective) return ReduceOn(event, rank);
    const bool both =
        event.kind == EventKind::kTransfer || event.kind == EventKind::kConnect;
    return both && event.at.rank != rank ? event.other : event.at;
  }

  // The REDUCE of `rank` that meets the one at event.at: equally often seen.
  InstrRef ReduceOn(const Event& event, Rank rank) const {
    const bytecode::Instr& reduce = analysis::At(module_, event.at);
    const auto& first = module_.programs[event.at.rank.value].code;
    auto left = std::count(first.begin(), first.begin() + event.at.pc.value + 1,
                           reduce);
    const auto& code = module_.programs[rank.value].code;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc] == reduce && --left == 0) return {rank, Pc(pc)};
    }
    return event.at;
  }

  std::vector<Rank> RanksOf(const Event& event) const {
    switch (event.kind) {
      case EventKind::kTransfer:
      case EventKind::kConnect:
        return {event.at.rank, event.other.rank};
      case EventKind::kCollective:
        return module_
            .groups[bytecode::op::Reduce::Of(analysis::At(module_, event.at))
                        .group.value]
            .ranks;
      case EventKind::kJoin:
        return {};
      case EventKind::kCompute:
      case EventKind::kWait:
      case EventKind::kSent:
      case EventKind::kReceived:
      case EventKind::kStart:
      case EventKind::kEnd:
        return {event.at.rank};
    }
    return {};
  }

  // The lowest rank on which `from` stands before `to`: where the edge is
  // from. None for the edges of a join, which is on all ranks at once.
  std::optional<Rank> SharedRank(const Event& from, const Event& to,
                                 EdgeClass why) const {
    std::optional<Rank> lowest;
    for (const Rank a : RanksOf(from)) {
      for (const Rank b : RanksOf(to)) {
        if (a != b || (lowest && *lowest <= a)) continue;
        const bool inside = why == EdgeClass::kGroup;
        if (inside || SideOn(from, a).pc < SideOn(to, a).pc) lowest = a;
      }
    }
    return lowest;
  }

  // What the host does in order on one rank reads as one step.
  static void MergeRuns(std::vector<Hop>& hops) {
    const auto quiet = [](const Hop& h) {
      return analysis::Info(h.why).hops == 0;
    };
    for (size_t i = 0; i + 1 < hops.size();) {
      Hop& hop = hops[i];
      const Hop& next = hops[i + 1];
      if (hop.rank == next.rank && quiet(hop) && quiet(next)) {
        hop.after = next.after;
        hops.erase(hops.begin() + std::ptrdiff_t(i) + 1);
      } else {
        ++i;
      }
    }
  }

  const Module& module_;
  const ModuleGraph& graph_;
  const std::vector<CycleStep>& cycle_;
};

std::string Text(const Module& module, const Hop& hop) {
  if (hop.before == hop.after) {
    return fmt::format("rank {}: {} is part of a group", hop.rank.value,
                       NameAt(module, hop.before));
  }
  return fmt::format(
      "rank {} waits at {} (pc {}); {} (pc {}) comes after it: "
      "{} [{}]",
      hop.rank.value, Name(module, hop.before), hop.before.pc.value,
      Name(module, hop.after), hop.after.pc.value, analysis::Info(hop.why).why,
      analysis::Info(hop.why).name);
}

diag::Waiting WaitingAt(const Module& module, InstrRef at) {
  return {at.rank.value,
          fmt::format("{} (pc {})", Name(module, at), at.pc.value),
          Where(module, at)};
}

// A hop's `before` is the next one's `after`, seen from another rank.
std::vector<diag::CircleEdge> CircleOf(const Module& module,
                                       const std::vector<Hop>& hops) {
  std::vector<diag::CircleEdge> edges;
  for (size_t i = 0; i < hops.size(); ++i) {
    const Hop& hop = hops[i];
    const Hop& next = hops[(i + 1) % hops.size()];
    if (hop.after != hop.before) {
      edges.push_back({WaitingAt(module, hop.after),
                       WaitingAt(module, hop.before),
                       std::string(analysis::Info(hop.why).name)});
    }
    if (hop.before != next.after) {
      edges.push_back(
          {WaitingAt(module, hop.before), WaitingAt(module, next.after),
           hop.before.rank == next.after.rank ? "group" : "partner"});
    }
  }
  return edges;
}

// The entries that a join ties together, as their ranks and places.
std::string JoinText(const Module& module, const ModuleGraph& graph,
                     Node join) {
  constexpr size_t kShown = 6;
  std::string text = "these start together or not at all: ";
  size_t count = 0;
  for (Node n = 0; n < graph.graph.size(); ++n) {
    if (graph.events[n].kind != EventKind::kStart) continue;
    for (const analysis::Edge& e : graph.graph.Out(n)) {
      if (e.to != join) continue;
      const InstrRef at = graph.events[n].at;
      if (count++ < kShown) {
        text += fmt::format("{}{}", count == 1 ? "" : ", ", NameAt(module, at));
      }
    }
  }
  if (count > kShown) text += fmt::format(" and {} more", count - kShown);
  return text + " [group]";
}

std::string HelpFor(const std::set<EdgeClass>& classes, bool schedule) {
  if (schedule) {
    return "the order of compute operations closes the circle: no transport "
           "can run it; change the schedule";
  }
  if (classes.contains(EdgeClass::kConnect)) {
    return "connect every pair of ranks before the first step, as pprun does, "
           "or let both begin with the same first message";
  }
  if (classes.contains(EdgeClass::kGroup)) {
    return "take the transfer that has to wait out of its group, or issue the "
           "groups in the same order on their ranks";
  }
  if (classes.contains(EdgeClass::kSlot)) {
    return "receive into another slot, or issue the receive later";
  }
  if (classes.contains(EdgeClass::kWait) ||
      classes.contains(EdgeClass::kHost)) {
    return "issue the communication that is waited for before the `wait` or "
           "`reduce` that blocks its rank";
  }
  return "issue the two communications in the same order on both ranks, or as "
         "one group on each";
}

// The first event of each rank that cannot happen.
std::vector<Node> StuckFirst(const Module& module, const ModuleGraph& graph,
                             EdgeMask mask) {
  std::vector<bool> happens(graph.graph.size(), false);
  for (const Node n : KahnOrder(graph.graph, mask)) happens[n] = true;
  std::vector<Node> first(module.ranks(), graph.graph.size());
  for (Node n = 0; n < graph.graph.size(); ++n) {
    Node& f = first[graph.events[n].at.rank.value];
    if (happens[n]) continue;
    if (f == graph.graph.size() ||
        graph.events[n].at.pc < graph.events[f].at.pc) {
      f = n;
    }
  }
  std::erase(first, graph.graph.size());
  return first;
}

void Report(const Module& module, const ModuleGraph& graph,
            const std::vector<CycleStep>& cycle, bool schedule,
            analysis::Tier tier, diag::Emitter& diag) {
  const Explainer explainer(module, graph, cycle);
  const std::vector<Hop> hops = explainer.Hops();
  std::vector<uint32_t> ranks;
  for (const Hop& hop : hops) ranks.push_back(hop.rank.value);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::string what =
      schedule ? "compute operations"
               : fmt::format("communication (tier {})", TierName(tier));
  auto error = diag.Emit(
      schedule ? diag::Code::kDependencyCycle
               : diag::Code::kCommunicationDeadlock,
      Where(module, hops[0].before),
      ranks.size() == 1
          ? fmt::format("rank {} waits for itself for ever: {}", ranks[0], what)
          : fmt::format("{} wait for each other for ever: {}", RankSet(ranks),
                        what));
  for (const Hop& hop : hops) {
    error.Note(Where(module, hop.before), Text(module, hop));
  }
  for (const CycleStep& step : cycle) {
    if (graph.events[step.from].kind == EventKind::kJoin) {
      error.Note({}, JoinText(module, graph, step.from));
    }
  }
  error.Help(HelpFor(explainer.Classes(), schedule))
      .Circle(CircleOf(module, hops));
}

}  // namespace

bool ModuleDeadlock(const ModuleContext& context, diag::Emitter& diag) {
  const Module& module = context.module;
  if (context.assumptions == analysis::Assumptions{} &&
      analysis::RunsStrict(module, context.match)) {
    return true;
  }
  const ModuleGraph graph =
      analysis::BuildModuleGraph(module, context.match, context.assumptions);
  if (KahnOrder(graph.graph).size() == graph.graph.size()) return true;
  for (const bool schedule : {true, false}) {
    const EdgeMask mask = schedule ? kScheduleEdges : analysis::kAllEdges;
    const auto starts = StuckFirst(module, graph, mask);
    const auto cycle = analysis::ShortestCycle(graph.graph, mask, starts);
    if (cycle.empty()) continue;
    Report(module, graph, cycle, schedule, context.assumptions.tier, diag);
    return false;
  }
  return false;
}

}  // namespace pp::check
