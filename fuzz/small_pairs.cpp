#include "fuzz/small_pairs.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "harness/testing/stray_writes.hpp"

namespace warpcheck {

// Host code that crashes for one number in 256.
KERNEL_PAIR(host_crash, Number, int) = {
    .family = "test",
    .origin = "ours",
    .arbitrary = draw_number,
    .kernel =
        [](Device&, const Number& in) {
          if (in.value == 77) std::abort();
          return 0;
        },
    .reference = [](const Number&) { return 0; },
};

// Host code that is killed from outside at its 600th call.
KERNEL_PAIR(killed_job, Number, int) = {
    .family = "test",
    .origin = "ours",
    .arbitrary = draw_number,
    .kernel =
        [](Device&, const Number&) {
          static int calls = 0;
          if (++calls == 600) static_cast<void>(std::raise(SIGKILL));
          return 0;
        },
    .reference = [](const Number&) { return 0; },
};

// Host code that writes to its worker's pipe, for one number in 256.
KERNEL_PAIR(stray_writer, Number, int) = {
    .family = "test",
    .origin = "ours",
    .arbitrary = draw_number,
    .kernel =
        [](Device&, const Number& in) {
          if (in.value == 77) write_astray("trialz {\"count\":1}\n");
          return 0;
        },
    .reference = [](const Number&) { return 0; },
};

// A reference that throws for one number in 256.
KERNEL_PAIR(broken_reference, Number, int) = {
    .family = "test",
    .origin = "ours",
    .arbitrary = draw_number,
    .kernel = [](Device&, const Number&) { return 0; },
    .reference =
        [](const Number& in) {
          if (in.value == 77) throw std::logic_error("no table for 77");
          return 0;
        },
};

// Wrong for one number in 2.
KERNEL_PAIR(wrong_number, Number, int) = {
    .family = "test",
    .origin = "ours",
    .expects = {"mismatch"},
    .arbitrary = draw_number,
    .kernel = [](Device&, const Number& in) { return in.value / 2 * 2; },
    .reference = [](const Number& in) { return in.value; },
};

}  // namespace warpcheck
