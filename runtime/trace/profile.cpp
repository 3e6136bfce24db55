#include "runtime/trace/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "runtime/trace/summary.h"

namespace pp::trace {
namespace {

using bytecode::Opcode;
using Json = nlohmann::ordered_json;

std::optional<char> LetterOf(Opcode op) {
  switch (op) {
    case Opcode::kForward:
      return 'F';
    case Opcode::kBackward:
      return 'B';
    case Opcode::kBackwardInput:
      return 'I';
    case Opcode::kBackwardWeight:
      return 'W';
    default:  // computes no part of a micro-batch
      return std::nullopt;
  }
}

// Whose result an operation is or needs: (backward?, replica, stage, mb).
using Tensor = std::tuple<bool, uint32_t, uint32_t, uint32_t>;

struct Done {
  uint32_t rank = 0;
  int64_t end_ns = 0;
};

struct Ran {  // an operation of one step
  uint32_t rank = 0;
  char letter = 'F';
  uint32_t stage = 0, replica = 0, mb = 0;
  int64_t begin_ns = 0, end_ns = 0;
  int64_t free_ns = 0;  // the operation before it on the rank has ended
};

std::vector<Ran> OperationsOf(const bytecode::Module& module,
                              std::span<const RankTrace> traces,
                              uint32_t step) {
  std::vector<Ran> all;
  for (uint32_t r = 0; r < traces.size(); ++r) {
    int64_t free_ns = INT64_MIN;
    for (const Event& event : traces[r]) {
      if (event.step != step || event.kind != EventKind::kCompute) continue;
      const bytecode::Instr& instr = module.programs[r].code[event.pc];
      const auto letter = LetterOf(instr.op);
      if (!letter) continue;
      // All compute instructions begin with chunk and micro-batch.
      const auto of = bytecode::op::Forward::Of(instr);
      const auto& chunk = module.programs[r].chunks[of.chunk.value];
      all.push_back({r, *letter, chunk.stage.value, chunk.replica, of.mb.value,
                     event.begin_ns, event.end_ns, free_ns});
      free_ns = event.end_ns;
    }
  }
  return all;
}

std::optional<Tensor> ResultOf(const Ran& op) {
  if (op.letter == 'W') return std::nullopt;
  return Tensor{op.letter != 'F', op.replica, op.stage, op.mb};
}

std::optional<Tensor> NeedOf(const bytecode::Module& module, const Ran& op) {
  if (op.letter == 'W') return std::nullopt;
  const bool backward = op.letter != 'F';
  if (backward ? op.stage + 1 >= module.stages : op.stage == 0) {
    return std::nullopt;
  }
  return Tensor{backward, op.replica, backward ? op.stage + 1 : op.stage - 1,
                op.mb};
}

using Times = std::vector<int64_t>;

struct Samples {
  std::map<std::pair<char, uint32_t>, Times> ops;
  std::map<std::pair<uint32_t, uint32_t>, Times> hops;
  Times makespans;
};

void AddStep(const bytecode::Module& module, std::span<const RankTrace> traces,
             uint32_t step, Samples& samples) {
  const std::vector<Ran> all = OperationsOf(module, traces, step);
  std::map<Tensor, Done> done;
  for (const Ran& op : all) {
    samples.ops[{op.letter, op.stage}].push_back(op.end_ns - op.begin_ns);
    if (const auto result = ResultOf(op)) done[*result] = {op.rank, op.end_ns};
  }
  for (const Ran& op : all) {
    const auto need = NeedOf(module, op);
    const auto made = need ? done.find(*need) : done.end();
    if (made == done.end() || made->second.rank == op.rank) continue;
    // Only where the rank had nothing else to do is the time a transfer's.
    if (op.free_ns > made->second.end_ns) continue;
    samples.hops[{made->second.rank, op.rank}].push_back(
        std::max<int64_t>(0, op.begin_ns - made->second.end_ns));
  }
  samples.makespans.push_back(Summarize(SpansOf(traces, step)).makespan_ns);
}

std::vector<uint32_t> StepsOf(std::span<const RankTrace> traces,
                              uint64_t warmup) {
  std::vector<uint32_t> steps;
  for (const RankTrace& trace : traces) {
    for (const Event& event : trace) {
      if (event.kind == EventKind::kCompute) steps.push_back(event.step);
    }
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  if (!steps.empty()) {
    const auto left_out = std::min<size_t>(warmup, steps.size() - 1);
    steps.erase(steps.begin(),
                steps.begin() + static_cast<ptrdiff_t>(left_out));
  }
  return steps;
}

std::string Text(int64_t ns) {
  std::string text = fmt::format("{}.{:06}", ns / 1'000'000, ns % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "ms";
}

template <class Key>
Times PooledMeans(const std::map<Key, Measured>& measured,
                  bool (*take)(const Key&, char), char letter) {
  Times times;
  for (const auto& [key, one] : measured) {
    if (take(key, letter)) times.push_back(one.ns);
  }
  return times;
}

}  // namespace

Measured Summarize(std::vector<int64_t> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const size_t quarter = times.size() / 4;
  const size_t last = times.size() - quarter;
  int64_t sum = 0;
  for (size_t i = quarter; i < last; ++i) sum += times[i];
  const auto median = static_cast<double>(times[times.size() / 2]);
  const auto range = static_cast<double>(times[last - 1] - times[quarter]);
  return {sum / static_cast<int64_t>(last - quarter),
          median > 0 ? range / median : 0, times.size()};
}

Profile MeasureCosts(const bytecode::Module& module,
                     std::span<const RankTrace> traces, uint64_t warmup) {
  Samples samples;
  const std::vector<uint32_t> steps = StepsOf(traces, warmup);
  for (uint32_t step : steps) AddStep(module, traces, step, samples);
  Profile profile;
  profile.steps = steps.size();
  for (auto& [key, times] : samples.ops) {
    profile.ops[key] = Summarize(std::move(times));
  }
  for (auto& [key, times] : samples.hops) {
    profile.hops[key] = Summarize(std::move(times));
  }
  profile.makespan = Summarize(std::move(samples.makespans));
  return profile;
}

std::string ProfileJson(
    const bytecode::Module& module, const Profile& profile,
    const std::vector<std::pair<std::string, std::string>>& about) {
  using OpKey = std::pair<char, uint32_t>;
  using HopKey = std::pair<uint32_t, uint32_t>;
  Json cost = Json::object(), spread = Json::object();
  for (const char letter : {'F', 'B', 'I', 'W'}) {
    const Times means = PooledMeans<OpKey>(
        profile.ops, [](const OpKey& key, char of) { return key.first == of; },
        letter);
    if (means.empty()) continue;
    cost[std::string(1, letter)] =
        Text(std::max<int64_t>(1, Summarize(means).ns));
  }
  for (const auto& [key, one] : profile.ops) {
    const std::string name = fmt::format("{}.{}", key.first, key.second);
    cost[name] = Text(std::max<int64_t>(1, one.ns));
    spread[name] = one.spread;
  }
  const Times hops = PooledMeans<HopKey>(
      profile.hops, [](const HopKey&, char) { return true; }, ' ');
  cost["comm"] = Text(Summarize(hops).ns);
  for (const auto& [edge, one] : profile.hops) {
    const std::string name = fmt::format("comm.{}.{}", edge.first, edge.second);
    cost[name] = Text(one.ns);
    spread[name] = one.spread;
  }
  Json from = {{"schedule", module.facts.schedule},
               {"P", module.ranks()},
               {"M", module.micro_batches}};
  for (const auto& [key, value] : about) from[key] = value;
  from["steps"] = profile.steps;
  from["makespan"] = Text(profile.makespan.ns);
  from["makespan_spread"] = profile.makespan.spread;
  from["spread"] = std::move(spread);
  return Json{{"cost", std::move(cost)}, {"from", std::move(from)}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace pp::trace
