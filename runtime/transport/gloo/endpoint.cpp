#include "runtime/transport/gloo/endpoint.h"

#define USE_C10D_GLOO
#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "runtime/transport/requests.h"

namespace pp::transport::gloo {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Work = c10::intrusive_ptr<c10d::Work>;

// A tag of Gloo's says which messages may meet. Gloo ends the process where a
// message is longer than the buffer it meets, so the size is part of the tag
// (all but surely: 17 bits of its hash): messages of other sizes do not meet,
// and their headers, which do, tell why.
constexpr uint32_t kLaneBits = 11;
constexpr uint32_t kMaxLane = (1u << kLaneBits) - 1;
constexpr uint32_t kSizeBits = 17;
enum class Space : uint32_t { kHeader = 0, kBytes = 1, kSum = 2, kResult = 3 };

int Tag(Space space, uint32_t lane, size_t bytes) {
  const uint64_t hash = (bytes + 1) * 0x9E3779B97F4A7C15u;
  const auto size = static_cast<uint32_t>(hash >> (64 - kSizeBits));
  return static_cast<int>((static_cast<uint32_t>(space) << 28) |
                          (lane << kSizeBits) | size);
}

// What goes before the bytes of a message.
struct Header {
  uint32_t payload = 0;
  uint32_t stage = 0;
  uint32_t mb = 0;
  uint32_t magic = 0x70705f31;
  uint64_t bytes = 0;

  static Header Of(const MessageKey& key, size_t bytes) {
    Header header;
    header.payload = static_cast<uint32_t>(key.payload);
    header.stage = key.stage.value;
    header.mb = key.mb.value;
    header.bytes = bytes;
    return header;
  }
  bool SameKey(const Header& other) const {
    return payload == other.payload && stage == other.stage && mb == other.mb;
  }
};

std::string Describe(const Header& header) {
  const char* payload =
      header.payload == static_cast<uint32_t>(bytecode::Payload::kAct) ? "act"
                                                                       : "grad";
  return fmt::format("{} s{} m{} ({} bytes)", payload, header.stage, header.mb,
                     header.bytes);
}

at::Tensor Bytes(void* data, size_t count) {
  return at::from_blob(data, {static_cast<int64_t>(count)},
                       at::TensorOptions().dtype(at::kByte));
}

milliseconds Until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  return std::max(left, milliseconds(1));
}

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// What an exception of LibTorch says, without its stack.
std::string WhatOf(const std::exception& error) {
  std::string what = error.what();
  const size_t end = what.find("\nException raised from");
  return what.substr(0, std::min(end, what.find('\n')));
}

Status Disagreement(Rank one, Rank other, const char* what) {
  return RankError(
      fmt::format("ranks {} and {} disagree about a {}: its size or the order "
                  "of its ranks",
                  one.value, other.value, what));
}

// A send or receive in flight: two messages of Gloo's.
struct Request {
  bool is_send = false;
  Rank peer;
  LaneId lane;
  Header mine;    // what this rank's program says
  Header other;   // receive: what has come
  Buffer buffer;  // shares the caller's bytes until Gloo has let go of them
  Work header, bytes;
};

std::string Describe(const Request& request) {
  return fmt::format("`{} {}` {} rank {} on lane {}",
                     request.is_send ? "send" : "recv", Describe(request.mine),
                     request.is_send ? "to" : "from", request.peer.value,
                     request.lane.value);
}

class Endpoint final : public Transport {
 public:
  Endpoint(c10::intrusive_ptr<c10d::ProcessGroupGloo> group, StorePtr store,
           const Meeting& meeting, std::shared_ptr<Family> family)
      : store_(std::move(store)),
        group_(std::move(group)),
        self_(meeting.rank),
        ranks_(meeting.ranks),
        family_(std::move(family)) {
    family_->Add(this);
  }
  ~Endpoint() override { family_->Remove(this); }

  TransportTraits traits() const override { return {"gloo", false}; }
  Rank rank() const override { return self_; }
  uint32_t ranks() const override { return ranks_; }

  Result<RequestId> Send(Rank peer, LaneId lane, const MessageKey& key,
                         const Buffer& buffer) override {
    return Issue(true, peer, lane, key, buffer);
  }
  Result<RequestId> Recv(Rank peer, LaneId lane, const MessageKey& key,
                         Buffer* buffer) override {
    return Issue(false, peer, lane, key, *buffer);
  }
  Status Wait(RequestId id, Deadline deadline) override;
  Status GroupBegin() override;
  Status GroupEnd() override;
  Status AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                      Deadline deadline) override;
  Status Barrier(Deadline deadline) override;
  void Abort(const Status& cause) override { family_->Abort(cause); }

  // Of any thread, by the family.
  void AbortHere(const Status& cause);

 private:
  Status Usable();
  Status Keep(Status status) {
    if (failed_.ok()) failed_ = std::move(status);
    return failed_;
  }
  Result<RequestId> Issue(bool is_send, Rank peer, LaneId lane,
                          const MessageKey& key, const Buffer& buffer);
  Status Post(Request& request);
  Status Await(const Work& work, Deadline deadline, const Request& request,
               steady_clock::time_point begin);
  Status Compare(const Request& request);
  Work Track(Work work);

  Status Exchange(bool is_send, Rank peer, Space space, void* data,
                  size_t bytes, const char* what, Deadline deadline);
  Status Sum(std::span<const Rank> ranks, std::vector<float>& values,
             const char* what, Deadline deadline);
  Status SumHere(std::span<const Rank> ranks, std::vector<float>& values,
                 const char* what, Deadline deadline);

  StorePtr store_;  // rank 0 serves it: as long as the group lives
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  const Rank self_;
  const uint32_t ranks_;
  std::shared_ptr<Family> family_;
  Status failed_;
  RequestTable<std::unique_ptr<Request>> requests_;
  bool in_group_ = false;
  std::vector<Request*> held_back_;  // until GroupEnd

  std::mutex mutex_;  // guards what follows
  std::vector<Work> in_flight_;
  bool aborted_ = false;
  std::string cause_;
};

void Endpoint::AbortHere(const Status& cause) {
  std::lock_guard lock(mutex_);
  if (aborted_) return;
  aborted_ = true;
  cause_ = cause.message();
  for (const Work& work : in_flight_) work->abort();
}

Status Endpoint::Usable() {
  if (!failed_.ok()) return failed_;
  std::lock_guard lock(mutex_);
  if (aborted_) failed_ = Status(StatusCode::kAborted, cause_);
  return failed_;
}

// Work that Abort can reach from here on.
Work Endpoint::Track(Work work) {
  std::lock_guard lock(mutex_);
  std::erase_if(in_flight_, [](const Work& w) { return w.use_count() == 1; });
  in_flight_.push_back(work);
  if (aborted_) work->abort();
  return work;
}

Result<RequestId> Endpoint::Issue(bool is_send, Rank peer, LaneId lane,
                                  const MessageKey& key, const Buffer& buffer) {
  PP_RETURN_IF_ERROR(Usable());
  if (peer.value >= ranks_ || peer == self_ || lane.value > kMaxLane) {
    return Fail(Keep(RankError(fmt::format(
        "rank {} of {} cannot exchange messages with rank {} on lane {}",
        self_.value, ranks_, peer.value, lane.value))));
  }
  auto request = std::make_unique<Request>();
  request->is_send = is_send;
  request->peer = peer;
  request->lane = lane;
  request->mine = Header::Of(key, buffer.bytes);
  request->buffer = buffer;
  if (in_group_) {
    held_back_.push_back(request.get());
  } else {
    PP_RETURN_IF_ERROR(Post(*request));
  }
  return requests_.Add(std::move(request));
}

Status Endpoint::Post(Request& request) {
  const int peer = static_cast<int>(request.peer.value);
  std::vector<at::Tensor> header = {
      Bytes(request.is_send ? &request.mine : &request.other, sizeof(Header))};
  std::vector<at::Tensor> bytes = {
      Bytes(request.buffer.data, request.buffer.bytes)};
  const uint32_t lane = request.lane.value;
  const int header_tag = Tag(Space::kHeader, lane, sizeof(Header));
  const int bytes_tag = Tag(Space::kBytes, lane, request.buffer.bytes);
  const bool any = request.buffer.bytes > 0;
  try {
    if (request.is_send) {
      request.header = Track(group_->send(header, peer, header_tag));
      if (any) request.bytes = Track(group_->send(bytes, peer, bytes_tag));
    } else {
      request.header = Track(group_->recv(header, peer, header_tag));
      if (any) request.bytes = Track(group_->recv(bytes, peer, bytes_tag));
    }
  } catch (const std::exception& error) {
    return Keep(RankError(fmt::format("{} cannot be issued: {}",
                                      Describe(request), WhatOf(error))));
  }
  return OkStatus();
}

Status Endpoint::Await(const Work& work, Deadline deadline,
                       const Request& request, steady_clock::time_point begin) {
  if (work == nullptr) return OkStatus();
  std::string what;
  try {
    if (work->wait(Until(deadline))) return OkStatus();
  } catch (const std::exception& error) {
    what = WhatOf(error);
  }
  PP_RETURN_IF_ERROR(Usable());  // an aborted wait has this cause
  if (steady_clock::now() >= deadline) {
    return Keep(RankError(
        fmt::format("waited {:.1f} s for {}: rank {} has not {} it",
                    SecondsSince(begin), Describe(request), request.peer.value,
                    request.is_send ? "received" : "sent")));
  }
  return Keep(
      RankError(fmt::format("{} failed, rank {} may be gone: {}",
                            Describe(request), request.peer.value, what)));
}

// The header that came against the one that this rank expects.
Status Endpoint::Compare(const Request& request) {
  if (request.is_send) return OkStatus();
  if (request.other.magic != Header{}.magic) {
    return Keep(RankError(fmt::format("{}: what came is no message of pprun",
                                      Describe(request))));
  }
  if (request.other.SameKey(request.mine) &&
      request.other.bytes == request.mine.bytes) {
    return OkStatus();
  }
  return Keep(RankError(fmt::format("{} met `send {}`", Describe(request),
                                    Describe(request.other))));
}

Status Endpoint::Wait(RequestId id, Deadline deadline) {
  PP_RETURN_IF_ERROR(failed_);
  const std::unique_ptr<Request>& found = requests_.Find(id);
  if (found == nullptr) {
    return Keep(RankError(fmt::format("no request {} is in flight", id)));
  }
  if (in_group_) {
    return Keep(
        RankError(fmt::format("wait for {} inside a group", Describe(*found))));
  }
  // On failure the request stays: Gloo may still write to its bytes.
  const Request& request = *found;
  const steady_clock::time_point begin = steady_clock::now();
  PP_RETURN_IF_ERROR(Await(request.header, deadline, request, begin));
  PP_RETURN_IF_ERROR(Compare(request));
  PP_RETURN_IF_ERROR(Await(request.bytes, deadline, request, begin));
  requests_.Take(id).reset();
  return OkStatus();
}

Status Endpoint::GroupBegin() {
  PP_RETURN_IF_ERROR(Usable());
  if (in_group_) return Keep(RankError("a group inside a group"));
  in_group_ = true;
  return OkStatus();
}

// Gloo's operations never block when issued, so a group only has to hold them
// back until it is complete.
Status Endpoint::GroupEnd() {
  PP_RETURN_IF_ERROR(Usable());
  if (!in_group_) return Keep(RankError("the end of a group without a begin"));
  in_group_ = false;
  for (Request* request : held_back_) PP_RETURN_IF_ERROR(Post(*request));
  held_back_.clear();
  return OkStatus();
}

// ---- Sums and barriers ----

Status Endpoint::Exchange(bool is_send, Rank peer, Space space, void* data,
                          size_t bytes, const char* what, Deadline deadline) {
  std::vector<at::Tensor> tensor = {Bytes(data, bytes)};
  const int other = static_cast<int>(peer.value);
  const int tag = Tag(space, 0, bytes);
  const steady_clock::time_point begin = steady_clock::now();
  std::string why = "rank may be gone";
  try {
    const Work work = Track(is_send ? group_->send(tensor, other, tag)
                                    : group_->recv(tensor, other, tag));
    if (work->wait(Until(deadline))) return OkStatus();
  } catch (const std::exception& error) {
    why = WhatOf(error);
  }
  PP_RETURN_IF_ERROR(Usable());
  if (steady_clock::now() >= deadline) {
    return Keep(RankError(fmt::format("waited {:.1f} s for rank {} of a {}",
                                      SecondsSince(begin), peer.value, what)));
  }
  return Keep(RankError(
      fmt::format("a {} with rank {} failed: {}", what, peer.value, why)));
}

// Before a part goes its length and the list it is summed over, so that ranks
// that disagree are told.
std::vector<uint64_t> SumHead(std::span<const Rank> ranks, size_t count) {
  std::vector<uint64_t> head = {count};
  for (Rank rank : ranks) head.push_back(rank.value);
  return head;
}

// The lowest rank takes all parts, adds them in the order of the list and
// gives the sum out: 1 and the sum, or 0 where ranks disagree.
Status Endpoint::SumHere(std::span<const Rank> ranks,
                         std::vector<float>& values, const char* what,
                         Deadline deadline) {
  const std::vector<uint64_t> mine = SumHead(ranks, values.size());
  std::vector<std::vector<float>> parts(ranks.size());
  std::optional<Rank> dissenter;
  for (size_t i = 0; i < ranks.size(); ++i) {
    parts[i].resize(values.size());
    if (ranks[i] == self_) {
      parts[i] = values;
      continue;
    }
    std::vector<uint64_t> head(mine.size());
    PP_RETURN_IF_ERROR(Exchange(false, ranks[i], Space::kSum, head.data(),
                                head.size() * sizeof(uint64_t), what,
                                deadline));
    if (head != mine) dissenter = ranks[i];
    if (dissenter || values.empty()) continue;
    PP_RETURN_IF_ERROR(Exchange(false, ranks[i], Space::kSum, parts[i].data(),
                                values.size() * sizeof(float), what, deadline));
  }
  uint64_t agreed = dissenter ? 0 : 1;
  if (agreed != 0) {
    values = parts.front();
    for (size_t i = 1; i < parts.size(); ++i) {
      for (size_t k = 0; k < values.size(); ++k) values[k] += parts[i][k];
    }
  }
  for (Rank rank : ranks) {
    if (rank == self_) continue;
    PP_RETURN_IF_ERROR(Exchange(true, rank, Space::kResult, &agreed,
                                sizeof agreed, what, deadline));
    if (agreed == 0 || values.empty()) continue;
    PP_RETURN_IF_ERROR(Exchange(true, rank, Space::kResult, values.data(),
                                values.size() * sizeof(float), what, deadline));
  }
  return dissenter ? Keep(Disagreement(self_, *dissenter, what)) : OkStatus();
}

Status Endpoint::Sum(std::span<const Rank> ranks, std::vector<float>& values,
                     const char* what, Deadline deadline) {
  const Rank hub = *std::min_element(ranks.begin(), ranks.end());
  if (hub == self_) return SumHere(ranks, values, what, deadline);
  std::vector<uint64_t> head = SumHead(ranks, values.size());
  PP_RETURN_IF_ERROR(Exchange(true, hub, Space::kSum, head.data(),
                              head.size() * sizeof(uint64_t), what, deadline));
  // Posted, not waited for: where ranks disagree nobody takes it.
  std::vector<float> part = values;
  Work sending;
  try {
    std::vector<at::Tensor> tensor = {
        Bytes(part.data(), part.size() * sizeof(float))};
    if (!part.empty()) {
      sending = Track(group_->send(tensor, static_cast<int>(hub.value),
                                   Tag(Space::kSum, 0, tensor[0].nbytes())));
    }
  } catch (const std::exception& error) {
    return Keep(RankError(fmt::format("a {} with rank {} failed: {}", what,
                                      hub.value, WhatOf(error))));
  }
  uint64_t agreed = 0;
  PP_RETURN_IF_ERROR(Exchange(false, hub, Space::kResult, &agreed,
                              sizeof agreed, what, deadline));
  if (agreed != 1) {
    if (sending != nullptr) sending->abort();
    return Keep(Disagreement(hub, self_, what));
  }
  if (values.empty()) return OkStatus();
  return Exchange(false, hub, Space::kResult, values.data(),
                  values.size() * sizeof(float), what, deadline);
}

Status Endpoint::AllReduceSum(std::span<const Rank> ranks, Buffer& buffer,
                              Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  PP_RETURN_IF_ERROR(Keep(CheckSumRanks(ranks, self_, ranks_)));
  std::vector<float> values(buffer.bytes / sizeof(float));
  std::memcpy(values.data(), buffer.data, buffer.bytes);
  PP_RETURN_IF_ERROR(Sum(ranks, values, "sum", deadline));
  std::memcpy(buffer.data, values.data(), buffer.bytes);
  return OkStatus();
}

Status Endpoint::Barrier(Deadline deadline) {
  PP_RETURN_IF_ERROR(Usable());
  std::vector<Rank> all;
  for (uint32_t r = 0; r < ranks_; ++r) all.push_back(Rank(r));
  std::vector<float> nothing;
  return Sum(all, nothing, "barrier", deadline);
}

// A store behind a pointer that names no type of LibTorch's.
StorePtr Hide(c10::intrusive_ptr<c10d::TCPStore> store) {
  using Held = c10::intrusive_ptr<c10d::Store>;
  return std::make_shared<Held>(std::move(store));
}

const c10::intrusive_ptr<c10d::Store>& Reveal(const StorePtr& store) {
  return *static_cast<const c10::intrusive_ptr<c10d::Store>*>(store.get());
}

}  // namespace

void QuietLog() {
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  c10::initLogging();
}

Result<StorePtr> ServeStore(const std::string& address,
                            const Listening& listening, Deadline deadline) {
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.waitWorkers = false;
  options.port = listening.port;
  options.masterListenFd = listening.socket;
  options.timeout = Until(deadline);
  try {
    return Hide(c10::make_intrusive<c10d::TCPStore>(address, options));
  } catch (const std::exception& error) {
    return Fail(MachineError(
        fmt::format("no store on {}: {}", address, WhatOf(error))));
  }
}

Result<StorePtr> ReachStore(const std::string& place, Deadline deadline) {
  const size_t blank = place.find(' ');
  const int port = blank == std::string::npos ? 0 : std::atoi(place.c_str());
  if (port <= 0 || port > 65535) {
    return Fail(RankError(fmt::format("`{}` is no meeting place", place)));
  }
  const std::string address = place.substr(blank + 1);
  c10d::TCPStoreOptions options;
  options.waitWorkers = false;
  options.port = static_cast<uint16_t>(port);
  options.timeout = Until(deadline);
  try {
    return Hide(c10::make_intrusive<c10d::TCPStore>(address, options));
  } catch (const std::exception& error) {
    return Fail(
        RankError(fmt::format("cannot reach the store at {} port {}: "
                              "{}",
                              address, port, WhatOf(error))));
  }
}

void Family::Add(Transport* end) {
  std::lock_guard lock(mutex_);
  ends_.push_back(end);
}

void Family::Remove(Transport* end) {
  std::lock_guard lock(mutex_);
  std::erase(ends_, end);
}

void Family::Abort(const Status& cause) {
  std::lock_guard lock(mutex_);
  if (aborted_) return;
  aborted_ = true;
  for (Transport* end : ends_) static_cast<Endpoint*>(end)->AbortHere(cause);
}

Result<std::unique_ptr<Transport>> JoinGroup(const StorePtr& store,
                                             const Meeting& meeting,
                                             std::shared_ptr<Family> family) {
  try {
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->timeout = Until(meeting.deadline);
    options->threads = 1;  // nothing but sends and receives: no collectives
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(meeting.address));
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
        Reveal(store), static_cast<int>(meeting.rank.value),
        static_cast<int>(meeting.ranks), options);
    return std::make_unique<Endpoint>(std::move(group), store, meeting,
                                      std::move(family));
  } catch (const std::exception& error) {
    return Fail(RankError(
        fmt::format("rank {} cannot join the other {} over gloo at {}: {}",
                    meeting.rank.value, meeting.ranks - 1, meeting.address,
                    WhatOf(error))));
  }
}

}  // namespace pp::transport::gloo
