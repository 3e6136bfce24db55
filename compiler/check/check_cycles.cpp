// Rule: ranks that run their operations in order all come to the end; no
// operations wait for each other in a circle.
// Codes: DependencyCycle (4003). Cost: linear; for the message, once a cycle
// is known to exist, a search with a budget.
//
//   rank 0 { F@0 F@1 B@1 B@0 }  rank 1 { F@0 B@0 F@1 B@1 }   // is fine;
//   rank 0 { F@0 B@0 F@1 B@1 }  rank 1 { F@0 F@1 B@0 B@1 }   // hangs
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/analysis/cycles.h"
#include "compiler/analysis/in_order.h"
#include "compiler/analysis/schedule_graph.h"
#include "compiler/check/checks.h"
#include "compiler/check/schedule_where.h"
#include "compiler/check/sets.h"

namespace pp::check {
namespace {

using analysis::OpRef;

// One rank's part in a circle: it waits at `waiting` for the `needed` of the
// next hop, and its own `needed`, which the hop before waits for, comes after
// (or is the same).
struct Hop {
  OpRef waiting;
  OpRef needed;
};

const ir::Op& OpAt(const ir::Schedule& schedule, OpRef op) {
  return schedule.programs[op.rank.value][op.position];
}
std::string NameOf(const ir::Schedule& schedule, OpRef op) {
  return Name(schedule, op.rank, OpAt(schedule, op));
}

// Edges u -> v say "u first"; a person follows the waiting, so hops go
// against them, each taking together a run of `prog` edges.
std::vector<Hop> HopsOf(const analysis::ScheduleGraph& graph,
                        const std::vector<analysis::CycleStep>& cycle) {
  std::vector<Hop> hops;
  const size_t n = cycle.size();
  // Begin at a node that is entered by a data edge.
  size_t begin = 0;
  while (cycle[(begin + n - 1) % n].edge_class != analysis::EdgeClass::kData) {
    ++begin;
  }
  for (size_t i = 0; i < n;) {
    const OpRef waiting = graph.OpOf(cycle[(begin + i) % n].from);
    while (cycle[(begin + i) % n].edge_class == analysis::EdgeClass::kProg) ++i;
    hops.push_back({waiting, graph.OpOf(cycle[(begin + i) % n].from)});
    ++i;
  }
  std::ranges::reverse(hops);
  const auto lowest = std::ranges::min_element(hops, [](auto& a, auto& b) {
    return std::pair(a.waiting.rank, a.waiting.position) <
           std::pair(b.waiting.rank, b.waiting.position);
  });
  // Not ranges::rotate: Clang 14 cannot read that part of GCC 12's library.
  std::rotate(hops.begin(), lowest, hops.end());
  return hops;
}

std::string Headline(const std::vector<Hop>& hops) {
  std::vector<uint32_t> ranks;
  for (const Hop& hop : hops) ranks.push_back(hop.waiting.rank.value);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.size() == 1) {
    return fmt::format("rank {} waits for itself, for ever", ranks[0]);
  }
  return fmt::format("ranks {} wait for each other in a circle, for ever",
                     Ranges(ranks));
}

std::string HopText(const ir::Schedule& schedule, const Hop& hop,
                    const Hop& next) {
  const Rank rank = hop.waiting.rank;
  const Rank other = next.waiting.rank;
  const std::string needed =
      NameOf(schedule, next.needed) +
      (other == rank ? "" : fmt::format(" of rank {}", other.value));
  std::string text = fmt::format(
      "rank {} waits at {}{} for {}", rank.value, NameOf(schedule, hop.waiting),
      Phase(schedule, OpAt(schedule, hop.waiting)), needed);
  if (next.needed.position != next.waiting.position) {
    text +=
        fmt::format(", which comes after {}", NameOf(schedule, next.waiting));
  } else {
    text += ", which waits as well";
  }
  return text;
}

diag::Waiting WaitingAt(const ir::Schedule& schedule, OpRef op) {
  return {op.rank.value, NameOf(schedule, op),
          Where(schedule, OpAt(schedule, op))};
}

std::vector<diag::CircleEdge> CircleOf(const ir::Schedule& schedule,
                                       const std::vector<Hop>& hops) {
  std::vector<diag::CircleEdge> edges;
  for (size_t i = 0; i < hops.size(); ++i) {
    const Hop& next = hops[(i + 1) % hops.size()];
    const diag::Waiting needed = WaitingAt(schedule, next.needed);
    edges.push_back(
        {WaitingAt(schedule, hops[i].waiting), needed, "needs its result"});
    if (next.needed.position == next.waiting.position) continue;
    edges.push_back({needed, WaitingAt(schedule, next.waiting), "comes after"});
  }
  return edges;
}

bool Runs(const ir::Schedule& schedule) {
  const auto stops = analysis::RunUntilStuck(schedule);
  for (size_t r = 0; r < stops.size(); ++r) {
    if (stops[r] != schedule.programs[r].size()) return false;
  }
  return true;
}

// Would the schedule run if `hop.needed` stood before `hop.waiting`?
bool MovingMends(const ir::Schedule& schedule, const Hop& hop) {
  ir::Schedule moved = schedule;
  auto& program = moved.programs[hop.waiting.rank.value];
  const ir::Op op = program[hop.needed.position];
  const auto from = program.begin() + std::ptrdiff_t(hop.waiting.position);
  const auto to = program.begin() + std::ptrdiff_t(hop.needed.position);
  // What stands between must not be what the operation itself needs.
  if (std::any_of(from, to, [&](const ir::Op& between) {
        return between.chunk == op.chunk && between.mb == op.mb;
      })) {
    return false;
  }
  std::rotate(from, to, to + 1);
  return Runs(moved);
}

// From `position` on, forwards run `more` forwards ahead of where they do now.
std::vector<ir::Op> WarmedUp(const std::vector<ir::Op>& program,
                             size_t position, size_t more) {
  std::vector<ir::Op> forwards;
  for (size_t i = position; i < program.size(); ++i) {
    if (program[i].kind == ir::OpKind::kF) forwards.push_back(program[i]);
  }
  std::vector<ir::Op> result(program.begin(),
                             program.begin() + std::ptrdiff_t(position));
  size_t next = 0;
  while (next < std::min(more, forwards.size())) {
    result.push_back(forwards[next++]);
  }
  for (size_t i = position; i < program.size(); ++i) {
    if (program[i].kind != ir::OpKind::kF) {
      result.push_back(program[i]);
    } else if (next < forwards.size()) {
      result.push_back(forwards[next++]);
    }
  }
  return result;
}

// A rank whose warm-up is too short waits at a backward for what needs a later
// forward of its own. How many forwards before it are enough, if that mends
// all: empty if not.
std::string WarmUpMend(const ir::Schedule& schedule, const Hop& hop) {
  if (OpAt(schedule, hop.waiting).kind == ir::OpKind::kF ||
      OpAt(schedule, hop.needed).kind != ir::OpKind::kF) {
    return {};
  }
  const uint32_t rank = hop.waiting.rank.value;
  const auto& program = schedule.programs[rank];
  const auto forwards = [&](size_t from, size_t to) {
    return std::count_if(
        program.begin() + std::ptrdiff_t(from),
        program.begin() + std::ptrdiff_t(to),
        [](const ir::Op& op) { return op.kind == ir::OpKind::kF; });
  };
  const auto now = forwards(0, hop.waiting.position);
  const auto more = forwards(hop.waiting.position, hop.needed.position + 1);
  ir::Schedule deeper = schedule;
  deeper.programs[rank] =
      WarmedUp(program, hop.waiting.position, static_cast<size_t>(more));
  if (!Runs(deeper)) return {};
  return fmt::format(
      "rank {} runs {} forward{} before {}: with {} nothing "
      "hangs",
      rank, now, now == 1 ? "" : "s", NameOf(schedule, hop.waiting),
      now + more);
}

std::string Mend(const ir::Schedule& schedule, const std::vector<Hop>& hops) {
  constexpr size_t kTries = 8;
  constexpr size_t kLargest = 1'000'000;  // operations: each try runs them all
  size_t ops = 0;
  for (const auto& program : schedule.programs) ops += program.size();
  for (size_t i = 0; i < std::min(hops.size(), kTries); ++i) {
    const Hop& hop = hops[i];
    if (ops > kLargest || hop.needed.position == hop.waiting.position) continue;
    if (MovingMends(schedule, hop)) {
      return fmt::format("on rank {}, run {} before {}: then nothing hangs",
                         hop.waiting.rank.value, NameOf(schedule, hop.needed),
                         NameOf(schedule, hop.waiting));
    }
    if (std::string mend = WarmUpMend(schedule, hop); !mend.empty()) {
      return mend;
    }
  }
  return "on one of these ranks, run the operation that is waited for before "
         "the one that waits";
}

std::vector<Hop> FindCircle(const ir::Schedule& schedule,
                            const std::vector<size_t>& stops) {
  const auto graph = analysis::BuildScheduleGraph(schedule);
  std::vector<analysis::Node> heads;
  for (uint32_t r = 0; r < stops.size(); ++r) {
    if (stops[r] < schedule.programs[r].size()) {
      heads.push_back(graph.NodeOf({Rank(r), stops[r]}));
    }
  }
  return HopsOf(
      graph, analysis::ShortestCycle(graph.graph, analysis::kAllEdges, heads));
}

}  // namespace

bool ScheduleCycles(const ir::Schedule& schedule, diag::Emitter& diag) {
  const std::vector<size_t> stops = analysis::RunUntilStuck(schedule);
  bool stuck = false;
  for (size_t r = 0; r < stops.size(); ++r) {
    stuck = stuck || stops[r] < schedule.programs[r].size();
  }
  if (!stuck) return true;
  const std::vector<Hop> hops = FindCircle(schedule, stops);
  auto error = diag.Emit(diag::Code::kDependencyCycle,
                         Where(schedule, OpAt(schedule, hops[0].waiting)),
                         Headline(hops));
  for (size_t i = 0; i < hops.size(); ++i) {
    error.Note(Where(schedule, OpAt(schedule, hops[i].waiting)),
               HopText(schedule, hops[i], hops[(i + 1) % hops.size()]));
  }
  error.Help(Mend(schedule, hops)).Circle(CircleOf(schedule, hops));
  return false;
}

}  // namespace pp::check
