#include "bench/gpu/mutant_trials.hpp"

#include "harness/pair/device.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kWords = 2'000;

// Pseudo-random words, always the same.
std::vector<std::uint32_t> words() {
  std::vector<std::uint32_t> values;
  std::uint32_t value = 1;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    value = value * 1'664'525 + 1'013'904'223;
    values.push_back(value ^ value >> 16);
  }
  return values;
}

}  // namespace

MutantRun run_mutant(fast::MutantKernel kernel, std::string_view strategy_name,
                     std::uint64_t seed) {
  const auto strategy = vgpu::make_strategy(strategy_name, seed);
  cudart::TrialSettings settings;
  settings.strategy = strategy.get();
  settings.limits.steps_max = 2'000'000;
  cudart::begin_trial(settings);
  MutantRun run;
  {
    Device device;
    const auto in = device.upload(words());
    auto out = device.array<std::uint32_t>(fast::mutant_out_words(kWords));
    auto scratch = device.array<std::uint64_t>(fast::mutant_scratch_bytes(kWords) / 8 + 1);
    out.fill_bytes(0);
    static_cast<void>(kernel(in.data(), out.data(), kWords, scratch.data()));
    run.out.resize(out.size());
    // A kernel that failed leaves an error; its finding explains it.
    static_cast<void>(cudaMemcpy(run.out.data(), out.data(), out.size() * sizeof(std::uint32_t),
                                 cudaMemcpyDeviceToHost));
  }
  const cudart::TrialResult result = cudart::end_trial();
  for (const vgpu::Finding& finding : result.findings) {
    if (finding.severity == vgpu::Severity::error) run.kinds.emplace(vgpu::name_of(finding.kind));
  }
  return run;
}

MutantSearch search_mutant(const fast::Mutant& mutant, std::string_view strategy,
                           std::uint64_t first, std::uint64_t schedules_max,
                           const std::vector<std::uint32_t>& expected) {
  for (std::uint64_t i = 0; i < schedules_max; ++i) {
    MutantRun run = run_mutant(mutant.run, strategy, first + i);
    if (run.out != expected) run.kinds.insert("mismatch");
    if (!run.kinds.empty()) return {i + 1, run.kinds};
  }
  return {};
}

}  // namespace warpcheck
