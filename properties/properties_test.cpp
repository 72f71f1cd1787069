// Every pair's own tests (harness/adaptors/pair_tests.hpp), together with the hand-written ones of
// this directory.
#include <gtest/gtest.h>

#include "harness/adaptors/pair_tests.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  warpcheck::register_pair_tests();
  return RUN_ALL_TESTS();
}
