// Byte streams like the inputs of histograms, compressors and parsers.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/input/draw.hpp"

namespace warpcheck {

// n bytes: uniform, all equal, few values, sorted, runs, one different byte, text, or counting up.
// Classes, for n > 3: those of vectors() and "text" (printable ASCII and line ends), "counting"
// (each one more than the one before, modulo 256); from 64 bytes on "many values" (more than 40),
// from 256 on "all values".  Throws std::invalid_argument if n is negative.
Gen<std::vector<std::uint8_t>> byte_streams(std::int64_t n);

}  // namespace warpcheck
