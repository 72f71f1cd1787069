#include "fuzz/standalone.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "fuzz/crash_text.hpp"
#include "fuzz/engine_coverage.hpp"
#include "fuzz/entry.hpp"
#include "fuzz/libfuzzer.hpp"
#include "harness/pair/registry.hpp"
#include "harness/report/report.hpp"

// Ends a process as the sanitizers' runtimes do after a report, if one is linked (compiler-rt,
// sanitizer_common/sanitizer_common.h): the engine saves the input, and no host stack is printed
// after the device's.
namespace __sanitizer {
[[gnu::weak]] void Die();
}

namespace warpcheck::fuzz {
namespace {

const AnyPair& pair_named(std::string_view name) {
  const AnyPair* pair = Registry::global().find(name);
  if (pair == nullptr) throw std::invalid_argument(fmt::format("no pair '{}'", name));
  return *pair;
}

}  // namespace

StandaloneTarget::StandaloneTarget(std::string_view pair)
    : runner_(std::make_unique<InputRunner>(pair_named(pair), libfuzzer_counters())) {
  set_mutation_shape(runner_->shape());
}

StandaloneTarget::~StandaloneTarget() = default;

void StandaloneTarget::run(std::span<const std::uint8_t> bytes) {
  begin_input();
  const auto failed = runner_->run(bytes);
  end_input();
  if (!failed) return;
  const Report report{.a_case = failed->a_case,
                      .verdict = failed->verdict,
                      .search = Report::Search{.trials = runner_->executions(), .shrinks = 0},
                      .replay_path = ""};
  fmt::print(stderr, "{}\n{}\n", crash_text(failed->verdict), report_text(report));
  std::fflush(stderr);
  if (__sanitizer::Die != nullptr) __sanitizer::Die();
  std::abort();
}

}  // namespace warpcheck::fuzz
