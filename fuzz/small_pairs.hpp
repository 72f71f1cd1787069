// Pairs without a kernel, for tests of searches: their input.
#pragma once

#include "harness/pair/pair.hpp"

namespace warpcheck {

struct Number {
  int value = 0;
};
FIELDS(Number, value);

// 0 ... 255
inline Number draw_number(Draw& draw) { return {static_cast<int>(draw.below(256))}; }

}  // namespace warpcheck
