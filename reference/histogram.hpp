// A sequential histogram of bytes, obviously right.
#pragma once

#include <cstdint>
#include <vector>

namespace reference {

// How often each byte value occurs, added to `start` and modulo 2^32.  256 elements.
std::vector<std::uint32_t> histogram(const std::vector<std::uint8_t>& in, std::uint32_t start);

}  // namespace reference
