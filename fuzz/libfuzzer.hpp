// libFuzzer as a library: its driver, the counters it reads, our mutator.
//
// Linked with libclang_rt.fuzzer_no_main (which brings the driver but no main), by any compiler:
// nothing of the program is instrumented, all feedback comes through the counters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuzz/trial_shape.hpp"

namespace warpcheck::fuzz {

// The extra counters: kCounters of them; libFuzzer zeroes them before each input.
std::span<std::uint8_t> libfuzzer_counters();

// Where the mutator finds the shape of the last trial; must live as long as libFuzzer runs.
void set_mutation_shape(const TrialShape& shape);

// Asked before each mutant for an input to run in its place, which others have found; not empty.
// The first time it is asked all inputs to begin with have been run.
using InputOffer = std::function<std::optional<std::vector<std::uint8_t>>()>;
void set_input_offer(InputOffer offer);

// The arguments of every search of ours, the program's name first; `seed` is any number.
std::vector<std::string> search_arguments(std::uint64_t seed);

// libFuzzer tells its progress on stderr, where our users look for errors: from now on nothing is
// written there by this process.
void silence_libfuzzer();

using InputCallback = void (*)(std::span<const std::uint8_t> bytes);

// Runs libFuzzer with its command-line arguments (the first is the program's name) until they say
// to stop; then leaves the process by exit(), as libFuzzer does.  An exception of the callback
// ends the process too, after what() was written to stderr.
[[noreturn]] void run_libfuzzer(std::vector<std::string> arguments, InputCallback callback);

}  // namespace warpcheck::fuzz
