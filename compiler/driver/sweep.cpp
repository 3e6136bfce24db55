#include "compiler/driver/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <tuple>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace pp::driver {
namespace {

constexpr uint64_t kMaxPoints = 10'000'000;

Result<SweepRange> ParseRange(llvm::StringRef part) {
  auto [name, range] = part.split('=');
  const auto bounds = ParseBounds(range);
  SweepRange result{name.trim().str(), 0, 0};
  if (result.name.empty() || !bounds) {
    return Fail(UsageError(fmt::format(
        "--for: `{}` is not NAME=FIRST..LAST or NAME=VALUE", part.str())));
  }
  std::tie(result.first, result.last) = *bounds;
  if (result.last < result.first) {
    return Fail(UsageError(
        fmt::format("--for: the range `{}` runs backwards", part.str())));
  }
  return result;
}

Result<uint64_t> CountPoints(const std::vector<SweepRange>& ranges) {
  uint64_t points = 1;
  for (const SweepRange& range : ranges) {
    uint64_t width = static_cast<uint64_t>(range.last) -
                     static_cast<uint64_t>(range.first) + 1;
    if (width == 0 || width > kMaxPoints || points * width > kMaxPoints) {
      return Fail(UsageError(
          fmt::format("--for: the grid has more than {} points", kMaxPoints)));
    }
    points *= width;
  }
  return points;
}

expand::Point PointAt(uint64_t index, const std::vector<SweepRange>& ranges,
                      const expand::Point& fixed) {
  std::vector<std::pair<std::string, int64_t>> values;
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    uint64_t width = static_cast<uint64_t>(range->last - range->first + 1);
    values.emplace_back(range->name,
                        range->first + static_cast<int64_t>(index % width));
    index /= width;
  }
  std::reverse(values.begin(), values.end());
  values.insert(values.end(), fixed.values.begin(), fixed.values.end());
  return {values};
}

// Shared by the threads of one sweep. Points are claimed in order; nothing
// beyond the first failure known so far is begun.
struct SweepState {
  uint64_t points = 0;
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> first_failure{UINT64_MAX};
  std::mutex mutex;  // guards what follows
  SweepCounts counts;
  diag::Emitter failure;
  Status status;
};

void Record(SweepState& state, uint64_t index, PointResult& result,
            diag::Emitter& diag) {
  std::lock_guard lock(state.mutex);
  switch (result.outcome) {
    case PointOutcome::kAccepted:
      ++state.counts.accepted;
      state.counts.expectations += result.point->expectations;
      state.counts.operations += ir::CountOperations(result.point->schedule);
      break;
    case PointOutcome::kRefused:
      ++state.counts.refused;
      break;
    case PointOutcome::kFailed:
      if (index < state.first_failure) {
        state.first_failure = index;
        state.failure = std::move(diag);
        state.status = result.status;
      }
      break;
  }
}

}  // namespace

std::optional<std::pair<int64_t, int64_t>> ParseBounds(llvm::StringRef text) {
  auto [first, last] = text.split("..");
  if (!text.contains("..")) last = first;
  std::pair<int64_t, int64_t> bounds;
  if (first.trim().getAsInteger(10, bounds.first) ||
      last.trim().getAsInteger(10, bounds.second)) {
    return std::nullopt;
  }
  return bounds;
}

Result<std::vector<SweepRange>> ParseSweep(const std::string& text) {
  std::vector<SweepRange> ranges;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',');
  for (llvm::StringRef part : parts) {
    PP_ASSIGN_OR_RETURN(SweepRange range, ParseRange(part));
    for (const SweepRange& earlier : ranges) {
      if (earlier.name == range.name) {
        return Fail(
            UsageError(fmt::format("--for: `{}` is given twice", range.name)));
      }
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

Result<SweepCounts> Sweep(Session& session,
                          const sema::CheckedSchedule& checked,
                          const std::vector<SweepRange>& ranges,
                          const Models& models) {
  SweepState state;
  PP_ASSIGN_OR_RETURN(state.points, CountPoints(ranges));
  const expand::Point fixed = PointOf(session.options);
  const expand::Options limits = LimitsOf(session.options);
  auto work = [&] {
    for (;;) {
      uint64_t index = state.next++;
      if (index >= state.points || index >= state.first_failure) return;
      diag::Emitter diag;
      PointResult result =
          CheckPoint(checked, PointAt(index, ranges, fixed), models, limits,
                     true, session.sources, diag);
      Record(state, index, result, diag);
    }
  };
  uint32_t jobs = session.options.jobs;
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  jobs = static_cast<uint32_t>(std::min<uint64_t>(jobs, state.points));
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  if (state.first_failure != UINT64_MAX) {
    std::string where;
    for (const auto& [name, value] :
         PointAt(state.first_failure, ranges, fixed).values) {
      where += fmt::format(" {}={}", name, value);
    }
    session.err << fmt::format("ppc: the first point that fails is{}\n", where);
    session.diag = std::move(state.failure);
    PP_RETURN_IF_ERROR(state.status);
    return Fail(Diagnosed());
  }
  state.counts.points = state.points;
  return state.counts;
}

}  // namespace pp::driver
