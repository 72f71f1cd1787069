// libFuzzer as a library: its driver, the counters it reads, our mutator.
//
// Linked with libclang_rt.fuzzer_no_main (the driver without main), by any compiler: nothing in the
// program is instrumented, all feedback comes through the counters.
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

// Gives the mutator the shape of the last trial; must live as long as libFuzzer runs.
void set_mutation_shape(const TrialShape& shape);

// Called before each mutant; may return an input from elsewhere to run instead, not empty. Before
// the first call all initial inputs have been run.
using InputSource = std::function<std::optional<std::vector<std::uint8_t>>()>;
void set_input_source(InputSource source);

// The arguments of every search, the program's name first; `seed` is any number.
std::vector<std::string> search_arguments(std::uint64_t seed);

// libFuzzer writes its progress to stderr, where users expect errors: from now on this process
// writes nothing there.
void silence_libfuzzer();

using InputCallback = void (*)(std::span<const std::uint8_t> bytes);

// Runs libFuzzer with its command-line arguments (the first is the program's name) until they say
// to stop; then ends the process by exit(), as libFuzzer does.  An exception of the callback also
// ends the process, after its what() was written to stderr.
[[noreturn]] void run_libfuzzer(std::vector<std::string> arguments, InputCallback callback);

}  // namespace warpcheck::fuzz
