#include "runtime/base/crc32.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pp {
namespace {

constexpr uint32_t kReflectedPolynomial = 0xEDB88320;

// Slicing by 16 (Kounavis and Berry, 2005): table k holds the CRC of a byte
// with k zero bytes after it, so that 16 bytes need 16 independent look-ups in
// place of a chain of 16.
constexpr size_t kSlices = 16;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables kTables = [] {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReflectedPolynomial : 0);
    }
    tables[0][i] = value;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[slice - 1][i];
      tables[slice][i] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

uint32_t Slice(uint32_t crc, const std::byte* bytes) {
  uint32_t result = 0;
  for (size_t i = 0; i < kSlices; ++i) {
    uint32_t byte = static_cast<uint32_t>(bytes[i]);
    if (i < sizeof(crc)) byte ^= (crc >> (8 * i)) & 0xFF;
    result ^= kTables[kSlices - 1 - i][byte];
  }
  return result;
}

#if defined(__x86_64__)
// Folding by carry-less multiplication (Gopal et al., "Fast CRC Computation
// for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009), with the
// constants given there for this polynomial, reflected: powers of x modulo it
// for steps of 64 and 16 bytes, then Barrett's for the last 64 bits.
constexpr size_t kFoldBytes = 64;
using Vec = __m128i;

bool CanFold() {
  static const bool can =
      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return can;
}

Vec Load(const std::byte* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const Vec*>(bytes));
}

// `x` moved on by the distance that `by` stands for, plus what is there.
__attribute__((target("pclmul"))) Vec Fold(Vec x, Vec by, Vec there) {
  const Vec low = _mm_clmulepi64_si128(x, by, 0x00);
  const Vec high = _mm_clmulepi64_si128(x, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

__attribute__((target("pclmul,sse4.1"))) uint32_t Reduce(Vec x, Vec by16) {
  const Vec low_words = _mm_setr_epi32(~0, 0, ~0, 0);
  x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, by16, 0x10));
  x = _mm_xor_si128(
      _mm_srli_si128(x, 4),
      _mm_clmulepi64_si128(_mm_and_si128(x, low_words),
                           _mm_set_epi64x(0, 0x0163cd6124), 0x00));
  const Vec poly = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  Vec q = _mm_clmulepi64_si128(_mm_and_si128(x, low_words), poly, 0x10);
  q = _mm_clmulepi64_si128(_mm_and_si128(q, low_words), poly, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(x, q), 1));
}

// Of the longest part that is a multiple of 16 bytes, which is cut off; there
// are kFoldBytes at least. `crc` and the result are inverted.
__attribute__((target("pclmul,sse4.1"))) uint32_t FoldMost(
    std::span<const std::byte>& bytes, uint32_t crc) {
  const Vec by64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const Vec by16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  Vec x[4];
  for (size_t i = 0; i < 4; ++i) x[i] = Load(bytes.data() + 16 * i);
  x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  bytes = bytes.subspan(kFoldBytes);
  for (; bytes.size() >= kFoldBytes; bytes = bytes.subspan(kFoldBytes)) {
    for (size_t i = 0; i < 4; ++i) {
      x[i] = Fold(x[i], by64, Load(bytes.data() + 16 * i));
    }
  }
  Vec sum = x[0];
  for (size_t i = 1; i < 4; ++i) sum = Fold(sum, by16, x[i]);
  for (; bytes.size() >= 16; bytes = bytes.subspan(16)) {
    sum = Fold(sum, by16, Load(bytes.data()));
  }
  return Reduce(sum, by16);
}
#endif

}  // namespace

uint32_t Crc32(std::span<const std::byte> bytes, uint32_t seed) {
  uint32_t crc = ~seed;
#if defined(__x86_64__)
  if (bytes.size() >= kFoldBytes && CanFold()) crc = FoldMost(bytes, crc);
#endif
  for (; bytes.size() >= kSlices; bytes = bytes.subspan(kSlices)) {
    crc = Slice(crc, bytes.data());
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint32_t>(byte)) & 0xFF];
  }
  return ~crc;
}

}  // namespace pp
