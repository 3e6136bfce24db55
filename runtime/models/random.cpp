#include "runtime/models/random.h"

#include <cmath>
#include <numbers>

namespace pp::models {
namespace {

uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr uint64_t kGamma = 0x9e3779b97f4a7c15ULL;

uint64_t HashKey(std::string_view key) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (unsigned char c : key) hash = (hash ^ c) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

Random::Random(uint64_t seed, std::string_view key)
    : state_(Mix(Mix(seed + kGamma) ^ HashKey(key))) {}

Random::Random(uint64_t seed, std::string_view key, uint64_t a, uint64_t b)
    : Random(seed, key) {
  state_ = Mix(state_ ^ Mix(a + kGamma));
  state_ = Mix(state_ ^ Mix(b + 2 * kGamma));
}

uint64_t Random::Next() {
  state_ += kGamma;
  return Mix(state_);
}

uint64_t Random::Below(uint64_t bound) {
  // High half of the product: the bias is below bound / 2^64.
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(Next()) * bound) >> 64);
}

double Random::Uniform() {
  return static_cast<double>(Next() >> 11) * 0x1.0p-53;
}

double Random::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
  const double angle = 2.0 * std::numbers::pi * Uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

}  // namespace pp::models
