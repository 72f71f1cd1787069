// A fuzz target of one pair, for any engine that calls LLVMFuzzerTestOneInput: libFuzzer's own
// main, or a fuzzing service's.
//
// A failure is printed in the words that services group crashes by (crash_text.hpp), then as every
// failure is, and ends the process, which is how such engines learn
// of it.  The input they save becomes a shrunk case by `warpcheck fuzz PAIR --corpus DIRECTORY`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz/entry.hpp"

namespace warpcheck::fuzz {

class StandaloneTarget {
 public:
  // Throws std::invalid_argument when the program has no pair of this name.
  explicit StandaloneTarget(std::string_view pair);

  // Aborts when the input fails.
  void run(std::span<const std::uint8_t> bytes);

 private:
  InputRunner runner_;
};

}  // namespace warpcheck::fuzz
