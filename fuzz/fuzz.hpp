// Coverage-guided search of one pair: what `warpcheck fuzz` runs.
#pragma once

#include <string>

#include "harness/any_pair.hpp"

namespace warpcheck {

struct FuzzOptions {
  const AnyPair* pair = nullptr;
  double seconds = 60;        // 0: until it is interrupted
  unsigned jobs = 1;          // processes
  std::string corpus;         // directory, made when it is not there; empty: none is kept
  std::string cases = "fuzz/cases";  // where shrunk failures are written: <cases>/<pair>/*.case
  std::string json;           // file for the findings as JSON; empty: none
};

// Returns the command's exit status: 0 nothing found, 1 findings, 2 it could not run.
int fuzz_pair(const FuzzOptions& options);

}  // namespace warpcheck
