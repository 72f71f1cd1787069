// The litmus tests of model/tests that can be converted to a kernel.
#pragma once

#include <vector>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

struct Shape {
  Test test;
  // It allows states that check/weak/write_histories.hpp leaves out: load buffering, and others
  // that are listed there.
  bool is_left_out = false;
};

std::vector<Shape> standard_shapes();

}  // namespace warpcheck::model
