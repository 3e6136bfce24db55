// What the machine itself costs: instructions with an engine that does
// nothing, messages between threads that carry nothing.
//
//   build/bin/speed_machine_parts [--benchmark_filter=...]
//
//   Instructions/P   one step of 1F1B, P ranks as threads, M = 256.
//                    `per_instr`: wall time x threads that can run at once,
//                    over all instructions of all ranks
//   HandOver         one message there, one back, two threads with a core
//                    each: `per_message` is the wall time from SEND to the end
//                    of the peer's WAIT; `median` is half of the median round,
//                    which is not hurt by another program on a core
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "compiler/driver/session.h"
#include "runtime/base/clock.h"
#include "runtime/transport/inproc/inproc.h"
#include "runtime/vm/vm.h"

namespace pp {
namespace {

[[noreturn]] void Die(const std::string& why) {
  std::cerr << "speed_machine_parts: " << why << "\n";
  std::exit(1);
}

bytecode::Module Compile(int64_t ranks, int64_t micro_batches) {
  driver::Session session{.options = {},
                          .out = std::cout,
                          .err = std::cerr,
                          .sources = {},
                          .diag = {}};
  session.options.file = PP_SCHEDULES "/one_f_one_b.sched";
  session.options.values = {{"P", ranks}, {"M", micro_batches}};
  auto module = driver::LoadModule(session);
  if (!module) Die(module.error().message());
  return std::move(*module);
}

// Its messages are one byte that nobody owns.
class NullEngine : public engine::Engine {
 public:
  Status BeginStep(uint64_t) override { return OkStatus(); }
  Status Forward(const engine::Work& work) override { return Fill(work); }
  Status Backward(const engine::Work& work) override { return Fill(work); }
  Status BackwardInput(const engine::Work& work) override { return Fill(work); }
  Status BackwardWeight(const engine::Work&) override { return OkStatus(); }
  Status Scale(ChunkId) override { return OkStatus(); }
  Result<std::vector<Buffer>> Reducible(const bytecode::Group&) override {
    return std::vector<Buffer>{};
  }
  Status Update(ChunkId) override { return OkStatus(); }
  Result<Buffer> Allocate(bytecode::Payload, StageId, MicroBatch) override {
    return Message();
  }
  void Adopt(Buffer&) override {}
  std::vector<std::pair<MicroBatch, double>> Losses() const override {
    return {};
  }
  double LossUnits() const override { return 1; }
  void VisitGradients(
      const std::function<void(const engine::GradientView&)>&) const override {}
  engine::MemoryReport Memory() const override { return {}; }

 private:
  Buffer Message() { return {&byte_, 1, nullptr}; }
  Status Fill(const engine::Work& work) {
    if (work.out != nullptr) *work.out = Message();
    return OkStatus();
  }
  std::byte byte_{};
};

transport::Deadline Soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

void Must(const Status& status) {
  if (!status.ok()) Die(status.message());
}

// Steps of one rank, with a barrier before each so that all begin together.
void RunRank(const bytecode::Module& module, Rank rank,
             transport::Transport& transport, int64_t steps) {
  NullEngine engine;
  vm::Vm vm(module, rank, engine, transport, {});
  for (int64_t step = 0; step < steps; ++step) {
    auto result = vm.RunStep(static_cast<uint64_t>(step));
    if (!result) Die(result.error().message());
    Must(transport.Barrier(Soon()));
  }
}

void Instructions(benchmark::State& state) {
  const auto ranks = static_cast<uint32_t>(state.range(0));
  const bytecode::Module module = Compile(ranks, 256);
  double instructions = 0;
  for (const auto& program : module.programs) {
    instructions += static_cast<double>(program.code.size());
  }
  constexpr int64_t kSteps = 32;
  for (auto _ : state) {
    auto ends = transport::inproc::Create(ranks);
    std::vector<std::thread> threads;
    for (uint32_t r = 0; r < ranks; ++r) {
      threads.emplace_back(
          [&, r] { RunRank(module, Rank(r), *ends[r], kSteps); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const double at_once =
      std::min<double>(ranks, std::thread::hardware_concurrency());
  state.counters["per_instr"] =
      benchmark::Counter(instructions * kSteps / at_once,
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}
BENCHMARK(Instructions)
    ->Arg(1)
    ->Arg(2)
    ->Arg(8)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Two threads that run at once: a scheduler may put both on one core.
void Pin(int nth) {
  static const cpu_set_t usable = [] {
    cpu_set_t set;
    sched_getaffinity(0, sizeof(set), &set);
    return set;
  }();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable) || nth-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

// Nanoseconds of each round.
std::vector<int64_t> Bounce(transport::Transport& transport, Rank peer,
                            bool first, int64_t rounds) {
  std::vector<int64_t> spent;
  spent.reserve(static_cast<size_t>(rounds));
  constexpr transport::MessageKey kKey{};
  const LaneId lane{0};
  std::byte byte{};
  const Buffer sent{&byte, 1, nullptr};
  const auto send = [&] {
    auto request = transport.Send(peer, lane, kKey, sent);
    if (!request) Die(request.error().message());
    return *request;
  };
  for (int64_t i = 0; i < rounds; ++i) {
    const int64_t begin = NowNs();
    transport::RequestId out{};
    if (first) out = send();
    Buffer got;
    auto in = transport.Recv(peer, lane, kKey, &got);
    if (!in) Die(in.error().message());
    Must(transport.Wait(*in, Soon()));
    if (!first) out = send();
    Must(transport.Wait(out, Soon()));
    spent.push_back(NowNs() - begin);
  }
  return spent;
}

void HandOver(benchmark::State& state) {
  constexpr int64_t kRounds = 10000;
  std::vector<int64_t> spent;
  Pin(0);
  for (auto _ : state) {
    auto ends = transport::inproc::Create(2);
    std::thread other([&] {
      Pin(1);
      Bounce(*ends[1], Rank(0), false, kRounds);
    });
    const auto rounds = Bounce(*ends[0], Rank(1), true, kRounds);
    other.join();
    spent.insert(spent.end(), rounds.begin(), rounds.end());
  }
  const auto middle = spent.begin() + static_cast<ptrdiff_t>(spent.size() / 2);
  std::nth_element(spent.begin(), middle, spent.end());
  state.counters["median"] = static_cast<double>(*middle) * 1e-9 / 2;
  state.counters["per_message"] = benchmark::Counter(
      2 * kRounds, benchmark::Counter::kIsIterationInvariantRate |
                       benchmark::Counter::kInvert);
}
BENCHMARK(HandOver)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pp
