// A case as a debuggee: it is run once to learn what it does, and then once more under the agent.
#pragma once

#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"

namespace warpcheck::debug {

class DebuggedCase {
 public:
  // Reads the case and runs it.
  //   build: "optimized", "unoptimized", or empty: that of the case
  // Throws DebugError for a file that is no case, and for a case that cannot be run.
  DebuggedCase(const std::string& file, const std::string& build);

  // Runs it in this process, which a debugger debugs.  Returns the exit status.
  //   path: the debugger's socket
  int run(const std::string& path) const;

 private:
  std::optional<Case> case_;
  Verdict verdict_;
};

}  // namespace warpcheck::debug
