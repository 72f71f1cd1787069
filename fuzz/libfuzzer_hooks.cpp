// Symbols that libFuzzer looks up by name in the program: counters and mutator.  They are one
// object, so that a program that uses the counters has the mutator too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "fuzz/feedback.hpp"
#include "fuzz/input_layout.hpp"
#include "fuzz/libfuzzer.hpp"
#include "fuzz/mutator.hpp"

// LLVM 14, compiler-rt/include/fuzzer/FuzzerInterface.h.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace warpcheck::fuzz {
namespace {

// All bytes of this section are libFuzzer's extra counters.
[[gnu::section("__libfuzzer_extra_counters"),
  gnu::used]] alignas(64) std::uint8_t counters[kCounters];

const TrialShape no_shape;
const TrialShape* last_shape = &no_shape;
InputSource the_source;

}  // namespace

std::span<std::uint8_t> libfuzzer_counters() { return counters; }
void set_mutation_shape(const TrialShape& shape) { last_shape = &shape; }
void set_input_source(InputSource source) { the_source = std::move(source); }

static std::size_t mutate_in_place(std::span<std::uint8_t> bytes, std::size_t size,
                                   std::uint64_t seed) {
  if (bytes.size() < kTrailerBytes) return LLVMFuzzerMutate(bytes.data(), size, bytes.size());
  const auto mutant = mutate(bytes.first(size), bytes.size(), seed, *last_shape,
                             [](std::span<std::uint8_t> part, std::size_t used) {
                               return LLVMFuzzerMutate(part.data(), used, part.size());
                             });
  std::ranges::copy(mutant, bytes.begin());
  return mutant.size();
}

}  // namespace warpcheck::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  using warpcheck::fuzz::the_source;
  const auto given = the_source ? the_source() : std::nullopt;
  if (given && given->size() <= size_max) {
    std::ranges::copy(*given, data);
    return given->size();
  }
  return warpcheck::fuzz::mutate_in_place({data, size_max}, size, seed);
}
