// What distinguishes the tests of the suites of programs; all the rest of them is compiled once.
#pragma once

#include "vgpu/check/checker_set.hpp"

namespace warpcheck::litmus {

struct Suite {
  bool vgpu::CheckerSet::*checker;  // is on, also if it is off by default
  const char* verdicts;             // the file of the table
  const char* verdicts_seen;        // the directory of the rows that this run shows
};

extern const Suite kSuite;  // suite.cpp

}  // namespace warpcheck::litmus
