// A fuzz target of one pair, for any engine that calls LLVMFuzzerTestOneInput: libFuzzer's own
// main, or a fuzzing service's.
//
// A failure is printed in the format by which services group crashes (crash_text.hpp), then as an
// ordinary report, and ends the process, by which such engines detect it.  `warpcheck fuzz PAIR
// --corpus DIRECTORY` converts the input that they save to a shrunk case.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace warpcheck::fuzz {

class InputRunner;  // each target would compile its headers

class StandaloneTarget {
 public:
  // Throws std::invalid_argument if the program has no pair of this name.
  explicit StandaloneTarget(std::string_view pair);
  ~StandaloneTarget();

  // Aborts if the input fails.
  void run(std::span<const std::uint8_t> bytes);

 private:
  std::unique_ptr<InputRunner> runner_;
};

}  // namespace warpcheck::fuzz
