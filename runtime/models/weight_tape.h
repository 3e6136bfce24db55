// WeightTape: the weight half of one micro-batch's backward.
//
// While the input gradients flow back, every operation with weights hands the
// tape a task that adds this micro-batch's share to the weight gradients. A
// tape that runs at once makes a full backward (B); one that defers makes the
// input half (I), and Run() is the weight half (W). A task owns exactly the
// tensors it needs (the operation's input and output gradient) and frees them
// when it has run, so I keeps nothing else and W computes nothing twice. The
// tasks are the same either way: B and I then W give the same bits.
#pragma once

#include <functional>
#include <vector>

namespace pp::models {

class WeightTape {
 public:
  enum class Mode { kRunAtOnce, kDefer };

  void SetMode(Mode mode) { mode_ = mode; }
  Mode mode() const { return mode_; }
  void Add(std::function<void()> task);
  // Runs what was deferred, in the order of Add, each freed when done.
  void Run();
  size_t pending() const { return tasks_.size(); }

 private:
  Mode mode_ = Mode::kRunAtOnce;
  std::vector<std::function<void()>> tasks_;
};

}  // namespace pp::models
