// Prints the names of the fuzz targets of all clean pairs, one a line: a fuzzing service builds
// these.  A specimen is recognised by its expected findings, as in `warpcheck list --json`; that
// program itself is not built there.
#include <cstdio>

#include "harness/pair/registry.hpp"

int main() {
  for (const warpcheck::AnyPair* pair : warpcheck::Registry::global().pairs()) {
    if (pair->clean()) std::printf("fuzz_%s\n", pair->name().c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
