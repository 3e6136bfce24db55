// CRC-32 (ISO-HDLC: polynomial 0x04C11DB7, reflected, as in zip and PNG).
//
// Finds every error of up to 32 bits in a row and every one or two flipped
// bits in the sizes used here. Not a protection against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pp {

// `seed`: the CRC of the bytes before these, to continue from.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t seed = 0);

}  // namespace pp
