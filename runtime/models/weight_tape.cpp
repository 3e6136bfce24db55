#include "runtime/models/weight_tape.h"

#include <utility>

namespace pp::models {

void WeightTape::Add(std::function<void()> task) {
  if (mode_ == Mode::kRunAtOnce) {
    task();
  } else {
    tasks_.push_back(std::move(task));
  }
}

void WeightTape::Run() {
  for (auto& task : tasks_) {
    task();
    task = nullptr;
  }
  tasks_.clear();
}

}  // namespace pp::models
