// What libFuzzer looks up by name in the program: counters and mutator.  One object, so that a
// program that uses the counters has the mutator too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/feedback.hpp"
#include "fuzz/libfuzzer.hpp"
#include "fuzz/mutator.hpp"
#include "fuzz/input_layout.hpp"

// LLVM 14, compiler-rt/include/fuzzer/FuzzerInterface.h.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t size_max);

namespace warpcheck::fuzz {
namespace {

// All bytes of this section are libFuzzer's extra counters.
[[gnu::section("__libfuzzer_extra_counters"), gnu::used]] alignas(64)
    std::uint8_t counters[kCounters];

}  // namespace

std::span<std::uint8_t> libfuzzer_counters() { return counters; }

}  // namespace warpcheck::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  using namespace warpcheck::fuzz;
  if (size_max < kTrailerBytes) return LLVMFuzzerMutate(data, size, size_max);
  const auto mutant =
      mutate({data, size}, size_max, seed, [](std::span<std::uint8_t> bytes, std::size_t used) {
        return LLVMFuzzerMutate(bytes.data(), used, bytes.size());
      });
  std::ranges::copy(mutant, data);
  return mutant.size();
}
