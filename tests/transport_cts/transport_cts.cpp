// What transport.h promises, asked of every transport in suts.def.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

#include "runtime/transport/emulated/emulated.h"
#include "runtime/transport/inproc/inproc.h"
#include "runtime/transport/nccl/nccl.h"
#include "tests/support/fake_nccl.h"
#ifdef PP_WITH_CUDA
#include "runtime/device/cuda/cuda_driver.h"
#endif
#ifdef PP_WITH_GLOO
#include "runtime/transport/gloo/gloo.h"
#endif

namespace pp::transport {
namespace {

using bytecode::Payload;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

#ifdef PP_WITH_GLOO
std::vector<std::unique_ptr<Transport>> CreateGloo(uint32_t ranks) {
  auto ends = gloo::CreateLocal(ranks);
  if (ends) return std::move(*ends);
  ADD_FAILURE() << ends.error().message();
  return {};
}
#endif

std::shared_ptr<test::FakeDevice> VirtualGpus() {
  static const auto gpus = std::make_shared<test::FakeDevice>(8);
  return gpus;
}
Result<std::vector<std::unique_ptr<Transport>>> NcclOn(
    std::shared_ptr<nccl::Api> api, uint32_t ranks) {
  nccl::Plan plan = nccl::FullPlan(ranks, 2);
  return nccl::CreateLocal(std::move(api), plan, ranks);
}
#ifndef PP_WITH_CUDA
std::vector<std::unique_ptr<Transport>> CreateVirtualNccl(uint32_t ranks) {
  return std::move(
      *NcclOn(std::make_shared<test::FakeNccl>(VirtualGpus()), ranks));
}
#else
std::vector<std::unique_ptr<Transport>> CreateNccl(uint32_t ranks) {
  auto api = nccl::CreateRealApi();
  if (api && (*api)->devices() >= ranks) {
    if (auto ends = NcclOn(*api, ranks)) return std::move(*ends);
  }
  return {};
}
#endif

enum class Memory { kHost, kVirtualGpu, kGpu };

struct Sut {
  const char* name;
  std::vector<std::unique_ptr<Transport>> (*create)(uint32_t);
  uint32_t max_ranks;
  bool compares_keys;
  bool zero_copy;
  Memory memory;
};

constexpr Sut kSuts[] = {
#define PP_SUT(Name, Create, max_ranks, compares_keys, zero_copy, memory) \
  {#Name, Create, max_ranks, compares_keys, zero_copy, Memory::memory},
#include "tests/transport_cts/suts.def"
};

void PrintTo(const Sut& sut, std::ostream* out) { *out << sut.name; }

Deadline In(int ms) { return steady_clock::now() + milliseconds(ms); }
Deadline Soon() { return In(20'000); }  // never reached unless broken

MessageKey Act(uint32_t mb) {
  return {Payload::kAct, StageId(0), MicroBatch(mb)};
}

// The virtual GPU has as many devices as a test asks for ranks at most.
Result<std::shared_ptr<device::Driver>> OpenDriver(Memory memory) {
  if (memory == Memory::kVirtualGpu) return VirtualGpus();
#ifdef PP_WITH_CUDA
  PP_ASSIGN_OR_RETURN(auto driver, device::cuda::CreateDriver());
  return std::shared_ptr<device::Driver>(std::move(driver));
#else
  return Fail(MachineError("this build has no CUDA"));
#endif
}

Buffer Floats(std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  auto* data = reinterpret_cast<std::byte*>(owner->data());
  return {data, owner->size() * sizeof(float), owner};
}

std::vector<float> ToFloats(const Buffer& buffer) {
  std::vector<float> values(buffer.bytes / sizeof(float));
  std::memcpy(values.data(), buffer.data, buffer.bytes);
  return values;
}

class TransportCts : public testing::TestWithParam<Sut> {
 protected:
  void SetUp() override {
    if (GetParam().memory == Memory::kHost) return;
    auto driver = OpenDriver(GetParam().memory);
    if (!driver) GTEST_SKIP() << driver.error().message();
    driver_ = std::move(*driver);
  }
  void Open(uint32_t ranks) {
    ends_ = GetParam().create(ranks);
    if (ends_.empty()) GTEST_SKIP() << "needs a GPU for each of " << ranks;
    if (driver_ == nullptr) return;
    queues_.clear();
    for (uint32_t r = 0; r < ranks; ++r) {
      const auto base =
          device::Timebase::Create(driver_, r % driver_->devices());
      queues_.push_back(*device::Queue::Create(*base));
    }
    OnAllRanks([&](Transport& end) {
      const Status status = end.Attach(queues_[end.rank().value], Soon());
      ASSERT_TRUE(status.ok()) << status.message();
    });
  }
  bool OnGpu() const { return driver_ != nullptr; }

  Buffer Make(Transport& end, std::vector<float> values) {
    if (!OnGpu()) return Floats(std::move(values));
    const device::Queue& queue = *queues_[end.rank().value];
    Buffer buffer = *queues_[end.rank().value]->Allocate(values.size() * 4);
    EXPECT_TRUE(
        driver_->Write(queue.device(), buffer.data, values.data(), buffer.bytes)
            .ok());
    return buffer;
  }

  // As the VM does at the end of a step: until the device has done it.
  Status Drain(Transport& end, Deadline deadline) {
    if (!OnGpu()) return OkStatus();
    PP_ASSIGN_OR_RETURN(const device::Mark mark,
                        queues_[end.rank().value]->Record());
    while (true) {
      PP_ASSIGN_OR_RETURN(
          const bool passed,
          driver_->WaitFor(mark.event(), std::chrono::microseconds(500)));
      if (passed) return OkStatus();
      PP_RETURN_IF_ERROR(end.Check());
      if (steady_clock::now() > deadline) return RankError("not in time");
    }
  }

  Status WaitFor(Transport& end, RequestId id, Deadline deadline) {
    PP_RETURN_IF_ERROR(end.Wait(id, deadline));
    return Drain(end, deadline);
  }

  std::vector<float> Values(Transport& end, const Buffer& buffer) {
    if (!OnGpu()) return ToFloats(buffer);
    EXPECT_TRUE(Drain(end, Soon()).ok());
    std::vector<float> values(buffer.bytes / sizeof(float));
    EXPECT_TRUE(driver_
                    ->Read(queues_[end.rank().value]->device(), values.data(),
                           buffer.data, buffer.bytes)
                    .ok());
    return values;
  }
  Transport& End(uint32_t rank) { return *ends_[rank]; }

  // Runs `body` on a thread per rank.
  void OnAllRanks(const std::function<void(Transport&)>& body) {
    std::vector<std::thread> threads;
    for (auto& end : ends_) threads.emplace_back([&] { body(*end); });
    for (std::thread& thread : threads) thread.join();
  }

  // A buffer to receive `count` floats into.
  Buffer Target(Transport& end, size_t count) {
    if (end.traits().zero_copy) return {};
    return Make(end, std::vector<float>(count));
  }

  Status SendFloats(Transport& end, Rank peer, const MessageKey& key,
                    std::vector<float> values, LaneId lane = LaneId(0)) {
    const Buffer buffer = Make(end, std::move(values));
    PP_ASSIGN_OR_RETURN(const RequestId id, end.Send(peer, lane, key, buffer));
    return WaitFor(end, id, Soon());
  }

  Result<std::vector<float>> RecvFloats(Transport& end, Rank peer,
                                        const MessageKey& key, size_t count,
                                        LaneId lane = LaneId(0)) {
    Buffer buffer = Target(end, count);
    PP_ASSIGN_OR_RETURN(const RequestId id, end.Recv(peer, lane, key, &buffer));
    PP_RETURN_IF_ERROR(WaitFor(end, id, Soon()));
    return Values(end, buffer);
  }

  std::shared_ptr<device::Driver> driver_;  // null: on the host
  std::vector<std::shared_ptr<device::Queue>> queues_;
  std::vector<std::unique_ptr<Transport>> ends_;
};

TEST_P(TransportCts, KnowsItsPlace) {
  Open(3);
  for (uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(End(r).rank(), Rank(r));
    EXPECT_EQ(End(r).ranks(), 3u);
  }
}

TEST_P(TransportCts, CarriesWhatWasSent) {
  Open(2);
  OnAllRanks([&](Transport& end) {
    if (end.rank() == Rank(0)) {
      EXPECT_TRUE(SendFloats(end, Rank(1), Act(0), {1, 2, 3}).ok());
    } else {
      const auto got = RecvFloats(end, Rank(0), Act(0), 3);
      ASSERT_TRUE(got) << got.error().message();
      EXPECT_EQ(*got, (std::vector<float>{1, 2, 3}));
    }
  });
}

TEST_P(TransportCts, KeepsOrderOnALane) {
  Open(2);
  constexpr uint32_t kMessages = 200;
  OnAllRanks([&](Transport& end) {
    for (uint32_t m = 0; m < kMessages; ++m) {
      if (end.rank() == Rank(0)) {
        ASSERT_TRUE(
            SendFloats(end, Rank(1), Act(m), {static_cast<float>(m)}).ok());
      } else {
        const auto got = RecvFloats(end, Rank(0), Act(m), 1);
        ASSERT_TRUE(got) << got.error().message();
        EXPECT_EQ(got->front(), static_cast<float>(m));
      }
    }
  });
}

TEST_P(TransportCts, LanesDoNotBlockEachOther) {
  Open(2);
  OnAllRanks([&](Transport& end) {
    if (end.rank() == Rank(0)) {
      const Buffer first = Make(end, {1}), second = Make(end, {2});
      const auto a = end.Send(Rank(1), LaneId(0), Act(0), first);
      const auto b = end.Send(Rank(1), LaneId(1), Act(1), second);
      ASSERT_TRUE(a && b);
      EXPECT_TRUE(end.Wait(*b, Soon()).ok());
      EXPECT_TRUE(end.Wait(*a, Soon()).ok());
    } else {  // takes the second one first
      const auto b = RecvFloats(end, Rank(0), Act(1), 1, LaneId(1));
      const auto a = RecvFloats(end, Rank(0), Act(0), 1, LaneId(0));
      ASSERT_TRUE(a && b);
      EXPECT_EQ(a->front(), 1);
      EXPECT_EQ(b->front(), 2);
    }
  });
}

TEST_P(TransportCts, CrossingSendsComplete) {
  Open(2);
  OnAllRanks([&](Transport& end) {
    const Rank peer(1 - end.rank().value);
    const Buffer mine = Make(end, {static_cast<float>(end.rank().value)});
    Buffer theirs = Target(end, 1);
    ASSERT_TRUE(end.GroupBegin().ok());
    const auto send = end.Send(peer, LaneId(0), Act(0), mine);
    const auto recv = end.Recv(peer, LaneId(0), Act(0), &theirs);
    ASSERT_TRUE(end.GroupEnd().ok());
    ASSERT_TRUE(send && recv);
    EXPECT_TRUE(end.Wait(*send, Soon()).ok());
    EXPECT_TRUE(end.Wait(*recv, Soon()).ok());
    EXPECT_EQ(Values(end, theirs).front(), static_cast<float>(peer.value));
  });
}

TEST_P(TransportCts, AnotherKeyIsAnErrorThatNamesBoth) {
  if (!GetParam().compares_keys) GTEST_SKIP() << "keys are not carried";
  Open(2);
  const auto names_both = [](const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kRankFailed);
    EXPECT_NE(status.message().find("act s0 m7"), std::string::npos);
    EXPECT_NE(status.message().find("act s0 m8"), std::string::npos);
  };
  OnAllRanks([&](Transport& end) {
    if (end.rank() == Rank(0)) {
      // Between processes the sender has done its part and learns nothing.
      const Status status = SendFloats(end, Rank(1), Act(7), {1});
      if (!status.ok()) names_both(status);
      return;
    }
    const auto got = RecvFloats(end, Rank(0), Act(8), 1);
    ASSERT_FALSE(got);
    names_both(got.error());
  });
}

TEST_P(TransportCts, AnotherSizeIsAnError) {
  if (OnGpu()) GTEST_SKIP() << "sizes are the compiler's promise there";
  if (GetParam().zero_copy) GTEST_SKIP() << "the sender's buffer is taken";
  for (const size_t sent : {1u, 3u, 100'000u}) {
    Open(2);
    OnAllRanks([&](Transport& end) {
      if (end.rank() == Rank(0)) {
        const Buffer buffer = Make(end, std::vector<float>(sent));
        const auto id = end.Send(Rank(1), LaneId(0), Act(0), buffer);
        // The receiver may take it or not; nothing else may happen.
        if (id) (void)end.Wait(*id, In(300)).ok();
        return;
      }
      const auto got = RecvFloats(end, Rank(0), Act(0), 2);
      ASSERT_FALSE(got);
      EXPECT_EQ(got.error().code(), StatusCode::kRankFailed);
    });
  }
}

TEST_P(TransportCts, AReceiveWithoutASendMeetsItsDeadline) {
  if (OnGpu()) GTEST_SKIP() << "the VM keeps the deadline";
  Open(2);
  Buffer buffer = Target(End(1), 1);
  const auto id = End(1).Recv(Rank(0), LaneId(0), Act(3), &buffer);
  ASSERT_TRUE(id);
  const auto begin = steady_clock::now();
  const Status status = End(1).Wait(*id, In(50));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(50));
  EXPECT_EQ(status.code(), StatusCode::kRankFailed);
  EXPECT_NE(status.message().find("act s0 m3"), std::string::npos)
      << status.message();
}

TEST_P(TransportCts, AfterAnErrorTheFirstErrorIsKept) {
  if (OnGpu()) GTEST_SKIP() << "the VM keeps the deadline";
  Open(2);
  Buffer buffer = Target(End(1), 1);
  const auto id = End(1).Recv(Rank(0), LaneId(0), Act(3), &buffer);
  const Status first = End(1).Wait(*id, In(1));
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(End(1).Barrier(In(1)).message(), first.message());
  EXPECT_EQ(End(1).GroupBegin().message(), first.message());
  const auto again = End(1).Recv(Rank(0), LaneId(0), Act(4), &buffer);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message(), first.message());
}

TEST_P(TransportCts, AnUnknownRequestIsAnError) {
  Open(2);
  EXPECT_FALSE(End(0).Wait(12345, In(1)).ok());
}

TEST_P(TransportCts, APeerThatDoesNotExistIsAnError) {
  Open(2);
  EXPECT_FALSE(End(0).Send(Rank(2), LaneId(0), Act(0), Make(End(0), {1})));
  EXPECT_FALSE(End(1).Send(Rank(1), LaneId(0), Act(0), Make(End(1), {1})));
}

TEST_P(TransportCts, AbortEndsAllWaitsWithTheFirstCause) {
  Open(3);
  std::atomic<int> ended{0};
  OnAllRanks([&](Transport& end) {
    if (end.rank() == Rank(2)) {
      std::this_thread::sleep_for(milliseconds(20));
      end.Abort(RankError("the disk is on fire"));
      end.Abort(RankError("a second cause"));
      return;
    }
    Status status;
    if (end.rank() == Rank(0)) {
      const auto got = RecvFloats(end, Rank(1), Act(0), 1);
      ASSERT_FALSE(got);
      status = got.error();
    } else {
      status = end.Barrier(Soon());
    }
    EXPECT_EQ(status.code(), StatusCode::kAborted);
    EXPECT_EQ(status.message(), "the disk is on fire");
    ++ended;
  });
  EXPECT_EQ(ended, 2);
}

TEST_P(TransportCts, SumsInTheOrderListed) {
  Open(3);
  // Chosen so that another order gives other bits.
  const std::vector<float> parts = {1e8f, 3.0f, -1e8f};
  const std::vector<Rank> order = {Rank(2), Rank(0), Rank(1)};
  const float expected = (parts[2] + parts[0]) + parts[1];
  ASSERT_NE(expected, (parts[0] + parts[1]) + parts[2]);
  OnAllRanks([&](Transport& end) {
    for (int round = 0; round < 50; ++round) {
      Buffer mine = Make(end, {parts[end.rank().value], 1});
      ASSERT_TRUE(end.AllReduceSum(order, mine, Soon()).ok());
      EXPECT_EQ(Values(end, mine), (std::vector<float>{expected, 3}));
    }
  });
}

TEST_P(TransportCts, SumsOfDisjointSetsAreIndependent) {
  if (GetParam().max_ranks < 4) GTEST_SKIP() << "needs 4 ranks";
  Open(4);
  OnAllRanks([&](Transport& end) {
    const uint32_t half = end.rank().value / 2;
    const std::vector<Rank> set = {Rank(2 * half), Rank(2 * half + 1)};
    for (int round = 0; round < 50; ++round) {
      Buffer mine = Make(end, {static_cast<float>(end.rank().value)});
      ASSERT_TRUE(end.AllReduceSum(set, mine, Soon()).ok());
      EXPECT_EQ(Values(end, mine).front(), static_cast<float>(4 * half + 1));
    }
  });
}

TEST_P(TransportCts, SumsOfOtherSizesOrOrdersAreErrors) {
  if (OnGpu()) GTEST_SKIP() << "NCCL cannot see them";
  for (const bool sizes : {true, false}) {
    Open(2);
    OnAllRanks([&](Transport& end) {
      const bool zero = end.rank() == Rank(0);
      Buffer mine = Make(end, std::vector<float>(sizes && zero ? 2 : 1));
      std::vector<Rank> set = {Rank(0), Rank(1)};
      if (!sizes && zero) std::swap(set[0], set[1]);
      EXPECT_EQ(end.AllReduceSum(set, mine, Soon()).code(),
                StatusCode::kRankFailed);
    });
  }
}

TEST_P(TransportCts, BarrierHoldsEverybodyBack) {
  const uint32_t ranks = GetParam().max_ranks;
  Open(ranks);
  std::atomic<uint32_t> come{0};
  OnAllRanks([&](Transport& end) {
    for (uint32_t round = 1; round <= 100; ++round) {
      ++come;
      ASSERT_TRUE(end.Barrier(Soon()).ok());
      EXPECT_GE(come.load(), round * ranks);
      ASSERT_TRUE(end.Barrier(Soon()).ok());
    }
  });
}

TEST_P(TransportCts, ARingOfAllRanksPassesManyMessages) {
  const uint32_t ranks = GetParam().max_ranks;
  Open(ranks);
  OnAllRanks([&](Transport& end) {
    const Rank next((end.rank().value + 1) % ranks);
    const Rank previous((end.rank().value + ranks - 1) % ranks);
    for (uint32_t m = 0; m < 300; ++m) {
      const Buffer mine = Make(end, {static_cast<float>(end.rank().value)});
      Buffer theirs = Target(end, 1);
      // A group: a lane may be a queue, and all would wait in its first.
      ASSERT_TRUE(end.GroupBegin().ok());
      const auto recv = end.Recv(previous, LaneId(0), Act(m), &theirs);
      const auto send = end.Send(next, LaneId(0), Act(m), mine);
      ASSERT_TRUE(end.GroupEnd().ok());
      ASSERT_TRUE(recv && send);
      ASSERT_TRUE(end.Wait(*recv, Soon()).ok());
      ASSERT_TRUE(end.Wait(*send, Soon()).ok());
      EXPECT_EQ(Values(end, theirs).front(),
                static_cast<float>(previous.value));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, TransportCts, testing::ValuesIn(kSuts),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace pp::transport
