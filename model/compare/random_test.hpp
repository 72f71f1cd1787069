// Random litmus tests: a few threads, a few accesses each, without loops.
#pragma once

#include <string>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::model {

enum class Style : std::uint8_t {
  any,  // all orders and scopes
  // Weak data, and flags that are accessed like seq_cst atomics of C++: each access is strong and
  // follows a fence.sc.  A program of this kind without a data race has only sequentially
  // consistent executions (Lustig, Sahasrabuddhe, Giroux, ASPLOS 2019).
  sequential,
};

// The text of a test, whose condition names every register that is set and every location.
std::string random_test(vgpu::Prng& random, Style style);

}  // namespace warpcheck::model
