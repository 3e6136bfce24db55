#include "runtime/engine/synthetic/host_engine.h"

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>

namespace pp::engine::synthetic {
namespace {

// An absolute deadline: a late wake-up is not added to by the next sleep.
void SleepFor(int64_t ns) {
  if (ns <= 0) return;
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t end = until.tv_nsec + ns;
  until.tv_sec += end / 1'000'000'000;
  until.tv_nsec = end % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) ==
         EINTR) {
  }
}

}  // namespace

Status HostEngine::BeginStep(uint64_t step) {
  // The kernel may wake a sleeper 50 us late by default, to save power.
  prctl(PR_SET_TIMERSLACK, 1UL);
  sums_.assign(sums_.size(), 1);
  return RankEngine::BeginStep(step);
}

Status HostEngine::Perform(const Job& job) {
  if (job.needs) PP_RETURN_IF_ERROR(CheckToken(*job.needs, *job.work.in));
  SleepFor(job.ns);
  if (!job.gives) return OkStatus();
  PP_ASSIGN_OR_RETURN(*job.work.out,
                      NewMessage(setup().options.message, memory()));
  WriteToken(*job.gives, job.work.out);
  return OkStatus();
}

Status HostEngine::Update(ChunkId chunk) {
  return CheckSum(chunk, sums_[chunk.value]);
}

Result<Buffer> HostEngine::Allocate(bytecode::Payload, StageId, MicroBatch) {
  return NewMessage(setup().options.message, memory());
}

void HostEngine::Adopt(Buffer& buffer) { CountFor(memory(), &buffer); }

}  // namespace pp::engine::synthetic
