// Time of each part of `ppc compile`, per compute operation, single thread.
//
//   build/bin/speed_compile_parts [--benchmark_filter=...]
//
// The schedule: interleaved, P = 64, v = 2, M micro-batches (the argument), so
// 2 P v M compute operations. `per_op` is what a part costs each of them.
// `Events...`: expansion, all checks of the schedule, and those together with
// all checks of the bytecode, as they grow (1F1B, P M the argument).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "compiler/analysis/simulate.h"
#include "compiler/check/check.h"
#include "compiler/driver/session.h"
#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/order_events.h"
#include "compiler/lower/transfers.h"
#include "compiler/lower/work_index.h"
#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/verifier.h"
#include "runtime/bytecode/writer.h"

namespace pp {
namespace {

[[noreturn]] void Die(const std::string& why) {
  std::cerr << "speed_compile_parts: " << why << "\n";
  std::exit(1);
}

template <class T>
T Take(Result<T> result) {
  if (!result) Die(result.error().message());
  return std::move(*result);
}

// What stands before the part that is timed.
struct Stage {
  driver::Session session{.options = {},
                          .out = std::cout,
                          .err = std::cerr,
                          .sources = {},
                          .diag = {}};
  std::optional<sema::CheckedSchedule> checked;
  expand::Point point;
  ir::Schedule schedule;
  driver::Models models;

  explicit Stage(int64_t micro_batches)
      : Stage("interleaved", {{"P", 64}, {"M", micro_batches}, {"v", 2}}) {}

  Stage(const std::string& name,
        std::vector<std::pair<std::string, int64_t>> values) {
    session.options.file = PP_SCHEDULES "/" + name + ".sched";
    point.values = std::move(values);
    checked.emplace(Take(driver::LoadSchedule(session)));
    schedule = Expand();
  }

  ir::Schedule Expand() {
    auto expansion = expand::Expand(*checked, point, {}, session.diag);
    if (!expansion.schedule) Die("the schedule does not expand");
    return std::move(*expansion.schedule);
  }
  bytecode::Module Lower() {
    return Take(lower::Lower(schedule, models.costs, session.sources, {}));
  }
};

template <class Part>
void Time(benchmark::State& state, const Stage& stage, const Part& part) {
  for (auto _ : state) benchmark::DoNotOptimize(part());
  const double operations =
      static_cast<double>(ir::CountOperations(stage.schedule));
  state.counters["per_op"] = benchmark::Counter(
      operations, benchmark::Counter::kIsIterationInvariantRate |
                      benchmark::Counter::kInvert);
}

void Expand(benchmark::State& state) {
  Stage stage(state.range(0));
  Time(state, stage, [&] { return stage.Expand(); });
}

void CheckSchedule(benchmark::State& state) {
  Stage stage(state.range(0));
  Time(state, stage, [&] {
    return check::CheckSchedule(stage.schedule, stage.session.diag);
  });
}

void Simulate(benchmark::State& state) {
  Stage stage(state.range(0));
  Time(state, stage,
       [&] { return analysis::Simulate(stage.schedule, stage.models.costs); });
}

void OrderEvents(benchmark::State& state) {
  Stage stage(state.range(0));
  Time(state, stage, [&] {
    const lower::WorkIndex index =
        Take(lower::WorkIndex::Build(stage.schedule));
    const lower::Transfers transfers(stage.schedule);
    return Take(lower::OrderEvents(stage.schedule, stage.models.costs,
                                   transfers, index, {}));
  });
}

void Lower(benchmark::State& state) {  // OrderEvents included
  Stage stage(state.range(0));
  Time(state, stage, [&] { return stage.Lower(); });
}

void Write(benchmark::State& state) {
  Stage stage(state.range(0));
  const bytecode::Module module = stage.Lower();
  Time(state, stage, [&] { return Take(bytecode::Write(module)); });
}

void Read(benchmark::State& state) {
  Stage stage(state.range(0));
  const auto bytes = Take(bytecode::Write(stage.Lower()));
  Time(state, stage, [&] { return Take(bytecode::Read(bytes)); });
}

void Verify(benchmark::State& state) {
  Stage stage(state.range(0));
  const bytecode::Module module = stage.Lower();
  Time(state, stage, [&] { return bytecode::Verify(module).ok(); });
}

void CheckModule(benchmark::State& state) {
  Stage stage(state.range(0));
  const bytecode::Module module = stage.Lower();
  Time(state, stage,
       [&] { return check::CheckModule(module, stage.session.diag); });
}

// All but reading the source and writing the file.
void CheckPoint(benchmark::State& state) {
  Stage stage(state.range(0));
  Time(state, stage, [&] {
    auto result =
        driver::CheckPoint(*stage.checked, stage.point, stage.models, {}, false,
                           stage.session.sources, stage.session.diag);
    if (!result.point) Die("the point was not accepted");
    return result;
  });
}

// 1F1B on 64 ranks by the number of its (rank, micro-batch) pairs. All three
// are counted by compute operation, two a pair: expansion writes each once, the
// checks of a schedule read each once; bytecode has some seven instructions an
// operation, which its checks read too.
Stage OneFOneB(const benchmark::State& state) {
  return Stage("one_f_one_b", {{"P", 64}, {"M", state.range(0) / 64}});
}

void EventsExpanded(benchmark::State& state) {
  Stage stage = OneFOneB(state);
  Time(state, stage, [&] { return stage.Expand(); });
}

void EventsCheckedSchedule(benchmark::State& state) {
  Stage stage = OneFOneB(state);
  Time(state, stage, [&] {
    if (!check::CheckSchedule(stage.schedule, stage.session.diag)) {
      Die("1F1B was not accepted");
    }
    return true;
  });
}

void EventsChecked(benchmark::State& state) {
  Stage stage = OneFOneB(state);
  const bytecode::Module module = stage.Lower();
  Time(state, stage, [&] {
    if (!check::CheckSchedule(stage.schedule, stage.session.diag) ||
        !check::CheckModule(module, stage.session.diag)) {
      Die("1F1B was not accepted");
    }
    return true;
  });
}

#define PP_SIZES(Part)            \
  BENCHMARK(Part)                 \
      ->RangeMultiplier(10)       \
      ->Range(10'000, 10'000'000) \
      ->Unit(benchmark::kMillisecond)
PP_SIZES(EventsExpanded);
PP_SIZES(EventsCheckedSchedule);
PP_SIZES(EventsChecked);

#define PP_PART(Part) \
  BENCHMARK(Part)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond)
PP_PART(Expand);
PP_PART(CheckSchedule);
PP_PART(Simulate);
PP_PART(OrderEvents);
PP_PART(Lower);
PP_PART(Write);
PP_PART(Read);
PP_PART(Verify);
PP_PART(CheckModule);
PP_PART(CheckPoint);

}  // namespace
}  // namespace pp
