// Random litmus tests: a few threads, a few accesses each, without loops.
#pragma once

#include <string>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::model {

enum class Style : std::uint8_t {
  any,  // all orders and scopes
  // Weak data, and flags that are accessed as seq_cst atomics of C++ are: each access strong and
  // behind a fence.sc.  Such a program that has no data race has only sequentially consistent
  // executions (Lustig, Sahasrabuddhe, Giroux, ASPLOS 2019).
  sequential,
};

// The text of a test, whose condition asks for every register that is set and every location.
std::string random_test(vgpu::Prng& random, Style style);

}  // namespace warpcheck::model
