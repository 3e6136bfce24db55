// Numbers for things that live for a while: slots and stashes of a rank.
//
// Taken in program order this is a linear scan: `count` ends as the most
// that were alive at once, which is the fewest numbers that can do.
#pragma once

#include <cstdint>
#include <vector>

namespace pp::lower {

class FreeList {
 public:
  uint32_t Take() {
    if (free_.empty()) return count_++;
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void Return(uint32_t number) { free_.push_back(number); }
  uint32_t count() const { return count_; }

 private:
  uint32_t count_ = 0;
  std::vector<uint32_t> free_;
};

}  // namespace pp::lower
