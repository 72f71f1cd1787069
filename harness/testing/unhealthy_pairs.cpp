// Pairs that pass whatever their kernels do, each in a different way: for tests of health.hpp.
#include <chrono>
#include <thread>
#include <vector>

#include "harness/pair/pair.hpp"

namespace warpcheck {

struct UnhealthyInput {
  int value = 0;
  std::vector<int> values{};
};
FIELDS(UnhealthyInput, value, values);

namespace {

UnhealthyInput draw_any(Draw& draw) {
  return {.value = static_cast<int>(draw.below(100)), .values = {}};
}
// Makes no launch, as do all pairs here.
int value_of(Device&, const UnhealthyInput& in) { return in.value; }
int reference_of(const UnhealthyInput& in) { return in.value; }

}  // namespace

KERNEL_PAIR(unhealthy_no_launch, UnhealthyInput, int) = {
    .arbitrary = draw_any, .kernel = value_of, .reference = reference_of};
PROPERTY(unhealthy_no_launch, claims_nothing)(UnhealthyInput in) { static_cast<void>(run(in)); }

// Wrong for a number that is never drawn: only a stored case shows it.
KERNEL_PAIR(unhealthy_number, UnhealthyInput, int) = {
    .arbitrary = draw_any,
    .kernel = [](Device&, const UnhealthyInput& in) { return in.value == 1000 ? 0 : in.value; },
    .reference = reference_of};

KERNEL_PAIR(unhealthy_discards, UnhealthyInput, int) = {
    .domain = [](const UnhealthyInput& in) { return in.value < 10; },
    .arbitrary = draw_any,
    .kernel = value_of,
    .reference = reference_of};

KERNEL_PAIR(unhealthy_domain, UnhealthyInput, int) = {
    .domain = [](const UnhealthyInput& in) { return in.value < 0; },
    .arbitrary = draw_any,
    .kernel = value_of,
    .reference = reference_of};

KERNEL_PAIR(unhealthy_class, UnhealthyInput, int) = {
    .arbitrary = draw_any,
    .kernel = value_of,
    .reference = reference_of,
    .required_classes = {"value: negative", "value: zero", "values.size: one"}};

KERNEL_PAIR(unhealthy_no_comparison, UnhealthyInput, std::vector<int>) = {
    .arbitrary = draw_any,
    .kernel = [](Device&, const UnhealthyInput& in) { return in.values; },
    .reference = [](const UnhealthyInput& in) { return in.values; }};

// One trial takes longer than a thousand kernels that do nothing.
KERNEL_PAIR(unhealthy_slow_reference, UnhealthyInput, int) = {
    .arbitrary = draw_any, .kernel = value_of, .reference = [](const UnhealthyInput& in) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      return in.value;
    }};

}  // namespace warpcheck
