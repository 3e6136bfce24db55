#include "tests/unit/torch/pipeline_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/bytecode/instr.h"
#include "runtime/engine/torch/ledger.h"
#include "runtime/engine/torch/reference.h"
#include "runtime/models/registry.h"

namespace pp::engine::torch_engine {
namespace {

using bytecode::Instr;

Plan LinearPlan(uint32_t ranks, uint32_t micro_batches) {
  Plan plan{ranks, micro_batches, {}, {}};
  for (uint32_t r = 0; r < ranks; ++r) plan.stages.push_back({r});
  plan.ops.resize(ranks);
  return plan;
}

Instr ComputeInstr(const Op& op, uint32_t stage, uint32_t stages,
                   uint32_t micro_batches) {
  const ChunkId chunk(op.chunk);
  const MicroBatch mb(op.mb);
  const StashId stash(op.chunk * micro_batches + op.mb);
  const bool first = stage == 0, last = stage + 1 == stages;
  // Slots of a chunk: 0 activation in, 1 out, 2 gradient in, 3 out.
  const auto slot = [&](uint32_t n, bool none) {
    return none ? bytecode::kNoSlot : SlotId(4 * op.chunk + n);
  };
  switch (op.kind) {
    case 'F':
      return bytecode::op::Forward{chunk,         mb,    slot(0, first),
                                   slot(1, last), stash, {}}
          .Pack();
    case 'B':
      return bytecode::op::Backward{chunk,          mb,    slot(2, last),
                                    slot(3, first), stash, {}}
          .Pack();
    case 'I':
      return bytecode::op::BackwardInput{chunk,          mb,    slot(2, last),
                                         slot(3, first), stash, {}}
          .Pack();
    default:
      return bytecode::op::BackwardWeight{chunk, mb, stash, {}, {}, {}}.Pack();
  }
}

void EmitOp(const Op& op, uint32_t stage, const Plan& plan, uint32_t stages,
            std::vector<Instr>& code) {
  const Instr compute = ComputeInstr(op, stage, stages, plan.micro_batches);
  const bool forward = op.kind == 'F';
  const auto payload =
      forward ? bytecode::Payload::kAct : bytecode::Payload::kGrad;
  const SlotId in(compute.operand[2]), out(compute.operand[3]);
  const bool moves = op.kind != 'W';
  if (moves && in != bytecode::kNoSlot) {
    const StageId from(forward ? stage - 1 : stage + 1);
    code.push_back(bytecode::op::Recv{Rank(0), LaneId(0), in, payload, from,
                                      MicroBatch(op.mb)}
                       .Pack());
    code.push_back(bytecode::op::Wait{in, {}, {}, {}, {}, {}}.Pack());
  }
  code.push_back(compute);
  if (moves && in != bytecode::kNoSlot) {
    code.push_back(bytecode::op::Free{in, {}, {}, {}, {}, {}}.Pack());
  }
  if (moves && out != bytecode::kNoSlot) {
    code.push_back(bytecode::op::Send{Rank(0), LaneId(0), out, payload,
                                      StageId(stage), MicroBatch(op.mb)}
                       .Pack());
    code.push_back(bytecode::op::Wait{out, {}, {}, {}, {}, {}}.Pack());
    code.push_back(bytecode::op::Free{out, {}, {}, {}, {}, {}}.Pack());
  }
}

}  // namespace

Plan GpipePlan(uint32_t ranks, uint32_t micro_batches) {
  Plan plan = LinearPlan(ranks, micro_batches);
  for (auto& ops : plan.ops) {
    for (uint32_t m = 0; m < micro_batches; ++m) ops.push_back({'F', 0, m});
    for (uint32_t m = 0; m < micro_batches; ++m) ops.push_back({'B', 0, m});
  }
  return plan;
}

Plan OneFOneBPlan(uint32_t ranks, uint32_t micro_batches, bool split) {
  Plan plan = LinearPlan(ranks, micro_batches);
  for (uint32_t r = 0; r < ranks; ++r) {
    auto& ops = plan.ops[r];
    const uint32_t warmup = std::min(ranks - 1 - r, micro_batches);
    uint32_t f = 0, b = 0;
    const char backward = split ? 'I' : 'B';
    while (f < warmup) ops.push_back({'F', 0, f++});
    while (f < micro_batches) {
      ops.push_back({'F', 0, f++});
      ops.push_back({backward, 0, b++});
    }
    while (b < micro_batches) ops.push_back({backward, 0, b++});
    for (uint32_t m = 0; split && m < micro_batches; ++m) {
      ops.push_back({'W', 0, m});
    }
  }
  return plan;
}

Plan VeePlan(uint32_t micro_batches) {
  Plan plan{2, micro_batches, {{0, 3}, {1, 2}}, {{}, {}}};
  for (char kind : {'F', 'B'}) {
    for (uint32_t m = 0; m < micro_batches; ++m) {
      for (uint32_t step = 0; step < 4; ++step) {
        const uint32_t stage = kind == 'F' ? step : 3 - step;
        plan.ops[stage == 0 || stage == 3 ? 0 : 1].push_back(
            {kind, stage < 2 ? 0u : 1u, m});
      }
    }
  }
  return plan;
}

bytecode::Module ModuleOf(const Plan& plan) {
  bytecode::Module module;
  module.micro_batches = plan.micro_batches;
  module.lanes = 1;
  uint32_t first_rank = 0, last_rank = 0, last_stage = 0;
  for (uint32_t r = 0; r < plan.ranks; ++r) {
    module.stages += static_cast<uint32_t>(plan.stages[r].size());
  }
  for (uint32_t r = 0; r < plan.ranks; ++r) {
    bytecode::RankProgram program;
    for (uint32_t stage : plan.stages[r]) {
      program.chunks.push_back({StageId(stage), 0});
      if (stage == 0) first_rank = r;
      if (stage >= last_stage) last_stage = stage, last_rank = r;
    }
    program.slots = static_cast<uint32_t>(4 * plan.stages[r].size());
    program.stashes =
        static_cast<uint32_t>(plan.stages[r].size()) * plan.micro_batches;
    for (const Op& op : plan.ops[r]) {
      EmitOp(op, plan.stages[r][op.chunk], plan, module.stages, program.code);
    }
    module.programs.push_back(std::move(program));
  }
  if (first_rank != last_rank) {
    module.groups.push_back({bytecode::GroupKind::kTied,
                             StageId(0),
                             {Rank(first_rank), Rank(last_rank)}});
  }
  return module;
}

Pipeline::Pipeline(Plan plan, EngineConfig config,
                   std::shared_ptr<const models::Model> model)
    : plan_(std::move(plan)), module_(ModuleOf(plan_)) {
  InstallAllocator();
  uint32_t batch = 0;
  if (!model) {
    auto made = models::MakeModel(config.model, config.options, config.seed,
                                  config.data, config.stage_files, config.loss);
    EXPECT_TRUE(made) << made.error().message();
    model = made->model;
    batch = made->default_batch;
  }
  auto setup = MakeSetup(module_, model, config, batch);
  EXPECT_TRUE(setup) << setup.error().message();
  for (uint32_t r = 0; r < plan_.ranks; ++r) {
    auto engine = TorchEngine::Create(*setup, Rank(r));
    EXPECT_TRUE(engine) << engine.error().message();
    engines_.emplace_back(static_cast<TorchEngine*>(engine->release()));
  }
  auto reference = TorchReference::Create(*setup);
  EXPECT_TRUE(reference) << reference.error().message();
  reference_ = std::move(*reference);
}

bool Pipeline::TryRun(uint32_t rank, const Op& op) {
  const uint32_t stage = plan_.stages[rank][op.chunk];
  const bool forward = op.kind == 'F', weight = op.kind == 'W';
  const bool in_end = forward ? stage == 0 : stage + 1 == module_.stages;
  const bool out_end = forward ? stage + 1 == module_.stages : stage == 0;
  const char lane = forward ? 'F' : 'B';
  const Key key{lane, {stage, op.mb}};
  Work work{ChunkId(op.chunk), MicroBatch(op.mb),
            StashId(op.chunk * plan_.micro_batches + op.mb)};
  Buffer in, out;
  if (!weight && !in_end) {
    const auto at = messages_.find(key);
    if (at == messages_.end()) return false;
    in = std::move(at->second);
    messages_.erase(at);
    engines_[rank]->Adopt(in);
    work.in = &in;
  }
  if (!weight && !out_end) work.out = &out;
  TorchEngine& engine = *engines_[rank];
  const Status status = forward          ? engine.Forward(work)
                        : op.kind == 'B' ? engine.Backward(work)
                        : op.kind == 'I' ? engine.BackwardInput(work)
                                         : engine.BackwardWeight(work);
  EXPECT_TRUE(status.ok()) << status.message();
  if (work.out != nullptr) {
    messages_[{lane, {forward ? stage + 1 : stage - 1, op.mb}}] =
        std::move(out);
  }
  return true;
}

void Pipeline::RunTail() {
  for (uint32_t r = 0; r < plan_.ranks; ++r) {
    for (uint32_t c = 0; c < plan_.stages[r].size(); ++c) {
      EXPECT_TRUE(engines_[r]->Scale(ChunkId(c)).ok());
    }
  }
  for (const bytecode::Group& group : module_.groups) {
    std::vector<std::vector<Buffer>> views;
    for (Rank rank : group.ranks) {
      views.push_back(*engines_[rank.value]->Reducible(group));
    }
    for (size_t i = 0; i < views[0].size(); ++i) {
      auto* sum = reinterpret_cast<float*>(views[0][i].data);
      auto* other = reinterpret_cast<float*>(views[1][i].data);
      const size_t count = views[0][i].bytes / sizeof(float);
      for (size_t j = 0; j < count; ++j) sum[j] += other[j];
      std::memcpy(other, sum, views[0][i].bytes);
    }
  }
  for (uint32_t r = 0; r < plan_.ranks; ++r) {
    for (uint32_t c = 0; c < plan_.stages[r].size(); ++c) {
      EXPECT_TRUE(engines_[r]->Update(ChunkId(c)).ok());
    }
  }
}

double Pipeline::Step(uint64_t step) {
  for (auto& engine : engines_) {
    const Status status = engine->BeginStep(step);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::vector<size_t> next(plan_.ranks);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t r = 0; r < plan_.ranks; ++r) {
      while (next[r] < plan_.ops[r].size() &&
             TryRun(r, plan_.ops[r][next[r]])) {
        ++next[r];
        moved = true;
      }
    }
  }
  for (uint32_t r = 0; r < plan_.ranks; ++r) {
    EXPECT_EQ(next[r], plan_.ops[r].size()) << "rank " << r << " is stuck";
  }
  if (before_tail_) before_tail_();
  RunTail();
  std::map<MicroBatch, double> losses;
  for (auto& engine : engines_) {
    for (const auto& [mb, loss] : engine->Losses()) losses[mb] = loss;
  }
  double sum = 0;
  for (const auto& [mb, loss] : losses) sum += loss;
  return sum / engines_[0]->LossUnits();
}

Gradients Collect(
    const std::function<void(const std::function<void(const GradientView&)>&)>&
        visit_all) {
  Gradients all;
  visit_all([&](const GradientView& view) {
    std::vector<float> values(view.data, view.data + view.count);
    const auto [at, fresh] = all.emplace(view.name, values);
    EXPECT_TRUE(fresh || at->second == values) << view.name << " differs";
  });
  return all;
}

Gradients Pipeline::GradientsNow() const {
  return Collect([&](const auto& visit) {
    for (const auto& engine : engines_) engine->VisitGradients(visit);
  });
}

Gradients Pipeline::ReferenceGradients() const {
  return Collect([&](const auto& visit) { reference_->VisitGradients(visit); });
}

double Pipeline::ReferenceStep(uint64_t step) {
  const auto loss = reference_->Step(step);
  EXPECT_TRUE(loss) << loss.error().message();
  return loss ? *loss : 0;
}

}  // namespace pp::engine::torch_engine
