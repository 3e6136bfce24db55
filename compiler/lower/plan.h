// T, the order of all events, as each rank sees it: what it computes, sends,
// receives and sees completed, one after the other.
//
// Everything is named by the index of an operation in the rank's own program,
// so that one rank can be turned into instructions without looking at another:
// a send by the operation that computes the tensor, a receive by the one that
// reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pp::lower {

enum class StepKind : uint8_t {
  kCompute,  // the rank's next operation
  kSend,     // a transfer starts; send and receive are one event of T
  kRecv,
  kSent,  // a transfer has ended, seen by its sender
};

// A transfer's place in an exchange that starts as one group.
enum class GroupMark : uint8_t { kNone, kFirst, kLast };

// About 16 bytes an operation: there may be 10^8 of them.
class RankPlan {
 public:
  void Reserve(size_t computes, size_t sends, size_t receives) {
    kinds_.reserve(computes + 2 * sends + receives);
    ops_.reserve(2 * sends + receives);
  }
  void Compute() { kinds_.push_back(0); }
  // `op`: see above. Returns where it stands, for Mark.
  size_t Transfer(StepKind kind, uint32_t op, GroupMark mark) {
    ops_.push_back(op);
    kinds_.push_back(Pack(kind, mark));
    return kinds_.size() - 1;
  }
  void Mark(size_t at, GroupMark mark) { kinds_[at] = Pack(KindAt(at), mark); }

  size_t size() const { return kinds_.size(); }
  StepKind KindAt(size_t at) const {
    return static_cast<StepKind>(kinds_[at] & 3);
  }
  GroupMark MarkAt(size_t at) const {
    return static_cast<GroupMark>(kinds_[at] >> 2);
  }
  // The operations of all steps but kCompute, in order.
  const std::vector<uint32_t>& ops() const { return ops_; }

 private:
  static uint8_t Pack(StepKind kind, GroupMark mark) {
    return static_cast<uint8_t>(static_cast<unsigned>(kind) |
                                static_cast<unsigned>(mark) << 2);
  }

  std::vector<uint8_t> kinds_;
  std::vector<uint32_t> ops_;
};

using Plan = std::vector<RankPlan>;  // by rank

}  // namespace pp::lower
