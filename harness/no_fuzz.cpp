// Stands in for fuzz/ in a program that was built without it.
#include <cstdio>

#include "fuzz/fuzz.hpp"

namespace warpcheck {

int fuzz_pair(const FuzzOptions&) {
  std::fputs("warpcheck: this program was built without fuzz/\n", stderr);
  return 2;
}

}  // namespace warpcheck
