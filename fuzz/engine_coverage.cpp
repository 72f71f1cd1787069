#include "fuzz/engine_coverage.hpp"

#include <algorithm>
#include <cstdint>

#include "fuzz/feedback.hpp"
#include "fuzz/libfuzzer.hpp"

// AFL++ 4: instrumentation/afl-compiler-rt.o.c.  libFuzzer defines the second and third too, to
// report that it does not support them; so the first one distinguishes the engines.
extern "C" {
[[gnu::weak]] extern unsigned char* __afl_area_ptr;
[[gnu::weak]] void __sanitizer_cov_trace_pc_guard_init(std::uint32_t* start, std::uint32_t* stop);
[[gnu::weak]] void __sanitizer_cov_trace_pc_guard(std::uint32_t* guard);
}

namespace warpcheck::fuzz {
namespace {

std::uint32_t guards[kCounters];

bool is_under_afl() {
  return &__afl_area_ptr != nullptr && __sanitizer_cov_trace_pc_guard_init != nullptr &&
         __sanitizer_cov_trace_pc_guard != nullptr;
}

// Before AFL's runtime reports the size of its map to the fuzzer.
[[gnu::constructor]] void ask_for_guards() {
  if (is_under_afl()) __sanitizer_cov_trace_pc_guard_init(guards, guards + kCounters);
}

}  // namespace

void begin_input() {
  if (is_under_afl()) std::ranges::fill(libfuzzer_counters(), 0);
}

void end_input() {
  if (!is_under_afl()) return;
  const auto counters = libfuzzer_counters();
  for (std::size_t i = 0; i < kCounters; ++i) {
    for (unsigned count = counters[i]; count > 0; --count) {
      __sanitizer_cov_trace_pc_guard(&guards[i]);
    }
  }
}

}  // namespace warpcheck::fuzz
