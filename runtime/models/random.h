// Random numbers that depend on what they are for and on nothing else.
//
// A stream is named by a seed and a key: a parameter's name, or (step, row) of
// the data. So weights and batches are the same bits however the model is cut
// into stages and whichever rank asks first. splitmix64 (Steele, Lea & Flood,
// OOPSLA 2014), normal numbers by Box and Muller.
#pragma once

#include <cstdint>
#include <string_view>

namespace pp::models {

class Random {
 public:
  Random(uint64_t seed, std::string_view key);
  Random(uint64_t seed, std::string_view key, uint64_t a, uint64_t b);

  uint64_t Next();
  uint64_t Below(uint64_t bound);  // 0 <= result < bound; bound > 0
  double Uniform();                // 0 <= result < 1
  double Normal();                 // mean 0, deviation 1

 private:
  uint64_t state_;
  double spare_ = 0;  // Box-Muller gives two at a time
  bool has_spare_ = false;
};

}  // namespace pp::models
