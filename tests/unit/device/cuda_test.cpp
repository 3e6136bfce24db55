// The CUDA driver itself. Where there is no GPU: that it says so, and why.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/device/cuda/cuda_driver.h"
#include "runtime/device/cuda/error.h"
#include "runtime/device/queue.h"

namespace pp::device::cuda {
namespace {

TEST(CudaErrors, NameTheCallTheTextAndTheCode) {
  EXPECT_TRUE(ErrorOf("cudaMalloc", cudaSuccess).ok());
  const Status memory = ErrorOf("cudaMalloc", cudaErrorMemoryAllocation);
  EXPECT_EQ(memory.code(), StatusCode::kMachine);
  EXPECT_EQ(memory.message(),
            "cudaMalloc: out of memory (cudaErrorMemoryAllocation)");
  const Status fault = ErrorOf("cudaEventQuery", cudaErrorIllegalAddress);
  EXPECT_EQ(fault.code(), StatusCode::kRankFailed);
  EXPECT_NE(fault.message().find("cudaErrorIllegalAddress"), std::string::npos);
}

TEST(CudaErrors, NoGpuSaysWhatIsMissing) {
  EXPECT_NE(NoGpu(cudaErrorInsufficientDriver, false, nullptr)
                .message()
                .find("libcuda.so.1"),
            std::string::npos);
  EXPECT_EQ(NoGpu(cudaErrorNoDevice, true, "").message(),
            "the NVIDIA driver shows no GPU (CUDA_VISIBLE_DEVICES is '')");
  const Status old = NoGpu(cudaErrorInsufficientDriver, true, nullptr);
  EXPECT_EQ(old.code(), StatusCode::kMachine);
  EXPECT_NE(old.message().find("cudaErrorInsufficientDriver"),
            std::string::npos);
}

// What needs a GPU.
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    auto driver = CreateDriver();
    if (!driver) {
      EXPECT_EQ(driver.error().code(), StatusCode::kMachine);
      GTEST_SKIP() << driver.error().message();
    }
    driver_ = std::move(*driver);
    auto base = Timebase::Create(driver_, 0);
    ASSERT_TRUE(base) << base.error().message();
    auto queue = Queue::Create(*base);
    ASSERT_TRUE(queue) << queue.error().message();
    queue_ = *queue;
    ASSERT_TRUE(queue_->BeginStep().ok());
  }

  std::shared_ptr<Driver> driver_;
  std::shared_ptr<Queue> queue_;
};

TEST_F(OnGpu, ASpinTakesItsTime) {
  for (const int64_t ns : {100'000, 1'000'000, 20'000'000}) {
    Spin spin;
    spin.ns = ns;
    const auto begin = queue_->Record();
    ASSERT_TRUE(driver_->Run(queue_->compute(), spin).ok());
    const auto end = queue_->Record();
    ASSERT_TRUE(begin && end);
    ASSERT_TRUE(driver_->WaitIdle(end->event()).ok());
    const int64_t took = *end->TimeNs() - *begin->TimeNs();
    EXPECT_GE(took, ns - 2'000);
    EXPECT_LE(took, ns + 1'000'000);
  }
}

TEST_F(OnGpu, SpinsOfManyStreamsRunBesideEachOther) {
  Spin spin;
  spin.ns = 20'000'000;
  std::vector<Mark> ends;
  const auto begin = queue_->Record();
  for (int i = 0; i < 16; ++i) {
    const auto stream = queue_->NewStream();
    ASSERT_TRUE(stream);
    ASSERT_TRUE(queue_->Follow(*stream, *begin).ok());
    ASSERT_TRUE(driver_->Run(*stream, spin).ok());
    ends.push_back(*queue_->Record(*stream));
  }
  for (const Mark& end : ends) {
    ASSERT_TRUE(driver_->WaitIdle(end.event()).ok());
    EXPECT_LT(*end.TimeNs() - *begin->TimeNs(), 2 * spin.ns);
  }
}

TEST_F(OnGpu, LabelsAreWrittenComparedAndReported) {
  auto message = queue_->Allocate(64), at = queue_->Allocate(sizeof(SpinFault));
  ASSERT_TRUE(message && at);
  const SpinFault none;
  ASSERT_TRUE(driver_->Write(0, at->data, &none, sizeof none).ok());
  Spin spin;
  spin.out = message->data;
  spin.gives = {1, 2, 3, 4};
  spin.fault = reinterpret_cast<SpinFault*>(at->data);
  ASSERT_TRUE(driver_->Run(queue_->compute(), spin).ok());
  for (uint64_t job = 1; job <= 3; ++job) {
    Spin reader;
    reader.in = message->data;
    reader.needs = {1, 2, 3, job == 1 ? 4u : 5u};
    reader.job = job;
    reader.fault = spin.fault;
    ASSERT_TRUE(driver_->Run(queue_->compute(), reader).ok());
  }
  ASSERT_TRUE(queue_->BeginStep().ok());
  SpinFault fault;
  ASSERT_TRUE(driver_->Read(0, &fault, at->data, sizeof fault).ok());
  EXPECT_EQ(fault.job, 2u);
  EXPECT_EQ(fault.got, spin.gives);
}

TEST_F(OnGpu, SumsAndCopies) {
  const std::vector<float> ones(1000, 1), twos(1000, 2);
  const size_t bytes = 1000 * sizeof(float);
  auto a = queue_->Allocate(bytes), b = queue_->Allocate(bytes);
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(driver_->Write(0, a->data, ones.data(), bytes).ok());
  ASSERT_TRUE(
      driver_->Copy(queue_->compute(), b->data, 0, a->data, 0, bytes).ok());
  ASSERT_TRUE(driver_
                  ->Add(queue_->compute(), reinterpret_cast<float*>(b->data),
                        reinterpret_cast<const float*>(a->data), 1000)
                  .ok());
  ASSERT_TRUE(queue_->BeginStep().ok());
  std::vector<float> got(1000);
  ASSERT_TRUE(driver_->Read(0, got.data(), b->data, bytes).ok());
  EXPECT_EQ(got, twos);
}

TEST_F(OnGpu, TooMuchMemoryIsTheMachinesFaultAndTheGpuGoesOn) {
  const auto much = queue_->Allocate(size_t{1} << 50);
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().code(), StatusCode::kMachine);
  EXPECT_TRUE(driver_->Run(queue_->compute(), Spin{}).ok());
}

}  // namespace
}  // namespace pp::device::cuda
