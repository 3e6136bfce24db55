// Rule: no rank needs more bytes than the limit of the memory model.
// Code: MemoryLimit (5002). Cost: linear for the ranks that fail.
//
//   mem { act = 1GiB  limit = 3GiB }     // rank 0 of 1F1B with P = 4
#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/check/check.h"
#include "compiler/check/schedule_where.h"
#include "compiler/check/sets.h"

namespace pp::check {
namespace {

// By chunk, the micro-batches alive once operation `at` of the rank has begun.
std::map<uint32_t, std::set<uint32_t>> AliveAt(const ir::Schedule& schedule,
                                               Rank rank, size_t at) {
  std::map<uint32_t, std::set<uint32_t>> alive;
  for (size_t i = 0; i <= at; ++i) {
    const ir::Op& op = schedule.programs[rank.value][i];
    if (op.kind == ir::OpKind::kF) alive[op.chunk].insert(op.mb);
    if (op.kind == ir::OpKind::kB || op.kind == ir::OpKind::kW) {
      alive[op.chunk].erase(op.mb);
    }
  }
  return alive;
}

std::string AliveText(const ir::Schedule& schedule, Rank rank, size_t at) {
  std::string text;
  for (const auto& [chunk, mbs] : AliveAt(schedule, rank, at)) {
    if (mbs.empty()) continue;
    text += fmt::format("{}stage {}: m = {}", text.empty() ? "" : "; ",
                        schedule.StageOf(rank, chunk),
                        Ranges({mbs.begin(), mbs.end()}));
  }
  return text;
}

std::string Lines(const ir::RankMemory& m) {
  std::string text;
  const auto add = [&](const char* name, ir::Bytes bytes) {
    if (bytes == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        ir::PrintBytes(bytes));
  };
  add("weights", m.weights);
  add("gradients", m.gradients);
  add("optimizer", m.optimizer);
  add("activations", m.activations);
  add("receive slots", m.receive_slots);
  add("send slots", m.send_slots);
  return text;
}

void Emit(const ir::Schedule& schedule, Rank rank, const ir::RankMemory& m,
          ir::Bytes limit, diag::Emitter& diag) {
  const auto& program = schedule.programs[rank.value];
  const bool computes = m.peak_at < program.size();
  auto error = diag.Emit(
      diag::Code::kMemoryLimit,
      computes ? Where(schedule, program[m.peak_at]) : schedule.name_span,
      fmt::format("rank {} needs {}, {} over the limit of {}", rank.value,
                  ir::PrintBytes(m.Total()), ir::PrintBytes(m.Total() - limit),
                  ir::PrintBytes(limit)));
  error.Note({}, Lines(m));
  if (!computes) return;
  error.Note({}, fmt::format("most is alive from {} on: {}",
                             Name(schedule, rank, program[m.peak_at]),
                             AliveText(schedule, rank, m.peak_at)));
}

}  // namespace

bool CheckMemory(const ir::Schedule& schedule,
                 const std::vector<ir::RankMemory>& memory,
                 std::optional<ir::Bytes> limit, diag::Emitter& diag) {
  if (!limit) return true;
  constexpr size_t kMostReports = 4;
  size_t failed = 0;
  for (uint32_t r = 0; r < memory.size(); ++r) {
    if (memory[r].Total() <= *limit || ++failed > kMostReports) continue;
    Emit(schedule, Rank(r), memory[r], *limit, diag);
  }
  return failed == 0;
}

}  // namespace pp::check
