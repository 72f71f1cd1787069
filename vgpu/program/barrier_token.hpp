// The 64 bits of an mbarrier object, and of the state that an arrival returns (PTX ISA 9.7.13.15:
// opaque to programs).  A state is the content of the object before the arrival.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

struct BarrierToken {
  static constexpr unsigned kCountBits = 20;
  static constexpr std::uint32_t kCountMax = (1u << kCountBits) - 1;

  std::uint32_t pending = 0;   // arrivals that the phase still expects; bits 0 ... 19
  std::uint32_t expected = 0;  // arrivals expected by the next phase; bits 20 ... 39
  std::int32_t bytes = 0;      // bytes that asynchronous copies must still bring; bits 40 ... 61
  bool parity = false;         // of the phase; bit 62
  bool valid = false;          // between init and inval; bit 63

  static BarrierToken unpack(std::uint64_t bits) {
    BarrierToken token;
    token.pending = static_cast<std::uint32_t>(bits) & kCountMax;
    token.expected = static_cast<std::uint32_t>(bits >> 20) & kCountMax;
    token.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(bits << 2) >> 42);
    token.parity = (bits >> 62 & 1) != 0;
    token.valid = (bits >> 63 & 1) != 0;
    return token;
  }
  [[nodiscard]] std::uint64_t pack() const {
    const std::uint64_t signed_bytes = static_cast<std::uint32_t>(bytes) & 0x3fffffu;
    return std::uint64_t{pending} | std::uint64_t{expected} << 20 | signed_bytes << 40 |
           std::uint64_t{parity} << 62 | std::uint64_t{valid} << 63;
  }
};

}  // namespace warpcheck::vgpu
