// A session without a debuggee, for tests of the adapter: it is linked in place of the real one.
// It stops where a test has said, and records what it was asked.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/debug/session.hpp"

namespace warpcheck::debug {

struct FakeRun {
  std::vector<std::string> calls;  // "step line_over forward"
  std::deque<Stop>
      stops;  // of the motions, in order; when none is left a motion runs until pause()
  std::vector<FoundFinding> findings;
  std::vector<BreakpointState> breakpoints;
  std::vector<BlockState> blocks;
  std::vector<std::string> source_files;
  KernelText text;
  std::map<std::string, std::string> values;  // of expressions
  std::string refusal;                        // of start(); empty: it starts
  Target target;
  bool is_alive = false;
  std::atomic<int> runs_begun = 0;
  std::atomic<bool> is_pause_asked = false;
};

// The one of the running test.
FakeRun& fake_run();
// Begins a new one.
void reset_fake_run();

// A stop of thread (lane,0,0) in the only block of 3 threads, at a line of scan.cu.
Stop fake_stop(StopReason reason, std::uint32_t lane, std::uint32_t line);

}  // namespace warpcheck::debug
