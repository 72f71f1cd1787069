// Names the fuzz targets of all pairs that have to be clean, a line each: those that a fuzzing
// service builds.  A specimen is known by what it expects, as `warpcheck list --json` has it; that
// program itself is not built there.
#include <cstdio>

#include "harness/pair/registry.hpp"

int main() {
  for (const warpcheck::AnyPair* pair : warpcheck::Registry::global().pairs()) {
    if (pair->clean()) std::printf("fuzz_%s\n", pair->name().c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
