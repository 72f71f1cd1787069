// The custom mutator: edits the data or the schedule of an input according to its structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fuzz/trial_shape.hpp"

namespace warpcheck::fuzz {

// Mutates the first `size` of the given bytes in place and returns the new size, at most
// bytes.size(): libFuzzer's own mutations (LLVMFuzzerMutate), or a fake in a test.
using ByteMutation = std::function<std::size_t(std::span<std::uint8_t> bytes, std::size_t size)>;

// A mutant of `input` of at most size_max bytes; a pure function of its arguments. size_max: at
// least kTrailerBytes.  shape: of a recent trial; new decisions are placed where a similar trial
// can reach them.
std::vector<std::uint8_t> mutate(std::span<const std::uint8_t> input, std::size_t size_max,
                                 std::uint64_t seed, const TrialShape& shape,
                                 const ByteMutation& mutate_bytes);

}  // namespace warpcheck::fuzz
