#include "fuzz/standalone.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "fuzz/libfuzzer.hpp"
#include "harness/registry.hpp"
#include "harness/report.hpp"

namespace warpcheck::fuzz {
namespace {

const AnyPair& pair_named(std::string_view name) {
  const AnyPair* pair = Registry::global().find(name);
  if (pair == nullptr) throw std::invalid_argument(fmt::format("no pair '{}'", name));
  return *pair;
}

}  // namespace

StandaloneTarget::StandaloneTarget(std::string_view pair)
    : runner_(pair_named(pair), libfuzzer_counters()) {
  set_mutation_shape(runner_.shape());
}

void StandaloneTarget::run(std::span<const std::uint8_t> bytes) {
  const auto failed = runner_.run(bytes);
  if (!failed) return;
  const Report report{.a_case = failed->a_case,
                      .verdict = failed->verdict,
                      .search = Report::Search{.trials = runner_.executions(), .shrinks = 0},
                      .replay_path = ""};
  fmt::print(stderr, "{}\n", report_text(report));
  std::fflush(stderr);
  std::abort();
}

}  // namespace warpcheck::fuzz
