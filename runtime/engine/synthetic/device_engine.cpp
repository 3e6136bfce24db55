#include "runtime/engine/synthetic/device_engine.h"

#include <fmt/format.h>

namespace pp::engine::synthetic {

Result<std::unique_ptr<Engine>> DeviceEngine::Create(
    std::shared_ptr<const Setup> setup, Rank rank,
    const std::shared_ptr<const device::Timebase>& timebase) {
  PP_ASSIGN_OR_RETURN(auto queue, device::Queue::Create(timebase));
  std::unique_ptr<DeviceEngine> engine(
      new DeviceEngine(std::move(setup), rank, std::move(queue)));
  PP_ASSIGN_OR_RETURN(engine->fault_,
                      engine->queue_->Allocate(sizeof(device::SpinFault)));
  PP_ASSIGN_OR_RETURN(engine->sums_, engine->queue_->Allocate(
                                         sizeof(float) * engine->chunks()));
  return engine;
}

DeviceEngine::~DeviceEngine() { queue_->Close(); }

Status DeviceEngine::BeginStep(uint64_t step) {
  jobs_.clear();
  updated_.assign(updated_.size(), false);
  PP_RETURN_IF_ERROR(queue_->BeginStep());
  const device::SpinFault none;
  PP_RETURN_IF_ERROR(queue_->driver().Write(queue_->device(), fault_.data,
                                            &none, sizeof none));
  const std::vector<float> ones(chunks(), 1);
  PP_RETURN_IF_ERROR(queue_->driver().Write(
      queue_->device(), sums_.data, ones.data(), sizeof(float) * ones.size()));
  return RankEngine::BeginStep(step);
}

Status DeviceEngine::Perform(const Job& job) {
  device::Spin spin;
  spin.ns = job.ns;
  jobs_.push_back({job.operation, job.work.chunk, job.work.mb,
                   job.needs.value_or(Token{})});
  spin.job = jobs_.size();
  spin.fault = reinterpret_cast<device::SpinFault*>(fault_.data);
  if (job.needs) {
    spin.in = job.work.in->data;
    spin.needs = LabelOf(*job.needs);
  }
  if (job.gives) {
    PP_ASSIGN_OR_RETURN(*job.work.out, Allocate({}, {}, {}));
    spin.out = job.work.out->data;
    spin.gives = LabelOf(*job.gives);
  }
  return queue_->driver().Run(queue_->compute(), spin);
}

// Checked at the end of the step: the value is not there yet.
Status DeviceEngine::Update(ChunkId chunk) {
  updated_[chunk.value] = true;
  return OkStatus();
}

Status DeviceEngine::EndStep() {
  PP_RETURN_IF_ERROR(CheckFault());
  return CheckSums();
}

Status DeviceEngine::CheckFault() {
  device::SpinFault fault;
  PP_RETURN_IF_ERROR(queue_->driver().Read(queue_->device(), &fault,
                                           fault_.data, sizeof fault));
  if (fault.job == 0) return OkStatus();
  if (fault.job > jobs_.size()) {
    return RankError(fmt::format("the GPU reports a fault of kernel {} of {}",
                                 fault.job, jobs_.size()));
  }
  const Queued& job = jobs_[fault.job - 1];
  return CheckLabel(job.needs, fault.got)
      .WithContext(fmt::format("{} of chunk {}, micro-batch {}", job.operation,
                               job.chunk.value, job.mb.value));
}

Status DeviceEngine::CheckSums() {
  std::vector<float> sums(chunks());
  PP_RETURN_IF_ERROR(queue_->driver().Read(
      queue_->device(), sums.data(), sums_.data, sizeof(float) * sums.size()));
  for (uint32_t c = 0; c < sums.size(); ++c) {
    if (updated_[c]) PP_RETURN_IF_ERROR(CheckSum(ChunkId(c), sums[c]));
  }
  return OkStatus();
}

Result<Buffer> DeviceEngine::Allocate(bytecode::Payload, StageId, MicroBatch) {
  PP_ASSIGN_OR_RETURN(Buffer raw,
                      queue_->Allocate(MessageBytes(setup().options.message)));
  return Counted(std::move(raw), memory());
}

void DeviceEngine::Adopt(Buffer& buffer) {
  CountFor(memory(), &buffer);
  queue_->Use(Uncounted(buffer));
}

}  // namespace pp::engine::synthetic
