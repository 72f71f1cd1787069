#include "cli/all_sizes/kernel_proof.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/all_sizes/kernel_contract.hpp"
#include "harness/input/tape.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

using vgpu::symbolic::Answer;
using vgpu::symbolic::KernelProof;
using vgpu::symbolic::ProofLimits;
using vgpu::symbolic::Suspect;

// The solver's units, of all domains together.
constexpr std::uint64_t kUnitsOfDomains = 40'000'000;
constexpr int kContents = 3;  // that are drawn for a suspected launch
// Elements of all arrays, and threads, of a case that is run whole.
constexpr std::uint64_t kElementsRun = 1 << 20;
constexpr std::uint64_t kThreadsRun = 1 << 18;

// The input that the solver suspects, with drawn contents; null: it is outside of the domain, or
// too large.
AnyInput input_of(const KernelPair& pair, const Suspect& suspect, std::uint64_t seed) {
  const KernelDescription& kernel = pair.kernel();
  KernelInput input;
  for (const ScalarParameter& scalar : kernel.scalars) {
    const auto known = suspect.scalars.find(scalar.name);
    const std::int64_t value = known == suspect.scalars.end() ? scalar.range.low : known->second;
    input.integers.push_back(is_integer(scalar.element) ? value : 0);
    input.floats.push_back(is_integer(scalar.element) ? 0 : 1);
  }
  for (const ArrayParameter& array : kernel.arrays) {
    std::vector<Column>& columns = input.arrays.emplace_back();
    for (const auto& column : array.columns) columns.push_back(empty_column(column.element));
  }
  input.launch.grid = suspect.grid;
  input.launch.block = suspect.block;
  if (input.launch.threads() > kThreadsRun || !fit_launch(kernel, input)) return nullptr;
  std::uint64_t elements = 0;
  for (const ArrayParameter& array : kernel.arrays) {
    elements += length_of(kernel, array, input).value_or(kElementsRun);
  }
  if (elements > kElementsRun || !fit(kernel, input)) return nullptr;
  Tape tape = Tape::of_seed(seed);
  Draw draw(tape);
  draw_contents(kernel, draw, input);
  return std::make_shared<const KernelInput>(std::move(input));
}

std::optional<Case> confirmed(const KernelPair& pair, const std::vector<Suspect>& suspects,
                              const std::vector<Settings>& settings) {
  TrialRunner runner;
  for (const Suspect& suspect : suspects) {
    for (std::uint64_t seed = 1; seed <= kContents; ++seed) {
      const AnyInput input = input_of(pair, suspect, seed);
      if (input == nullptr || !pair.in_domain(input)) break;
      for (const Settings& one : settings) {
        Case a_case;
        a_case.pair = &pair;
        a_case.input = input;
        a_case.schedule = vgpu::Schedule{};
        a_case.settings = one;
        if (runner.run(a_case).failed()) return a_case;
      }
    }
  }
  return std::nullopt;
}

// Integers may be as large as the proof says, beyond those of the trials.
KernelDescription widened(const AssumedKernel& kernel) {
  KernelDescription wide = kernel.assumptions.kernel;
  for (ScalarParameter& scalar : wide.scalars) {
    if (is_integer(scalar.element) && !kernel.is_range_given(scalar.name)) {
      scalar.range.high = range_of(scalar.element).high;
    }
  }
  return wide;
}

}  // namespace

PairOfAllSizes prove_kernel_file(const KernelPair& pair, const AssumedKernel& kernel,
                                 const std::vector<Settings>& settings,
                                 const OnQuestion& on_question) {
  PairOfAllSizes result;
  result.pair = &pair;
  const KernelDescription& description = pair.kernel();
  const auto text = std::make_shared<const std::string>(
      description.optimized.empty() ? description.unoptimized : description.optimized);
  const ptx::Module module = ptx::parse(*text, description.file);
  const ptx::Function& function = *module.find_function(description.mangled);
  const std::vector<KernelDomain> domains = domains_of(kernel, function, result.obstacle);
  if (!result.obstacle.empty()) return result;
  std::vector<Suspect> suspects;
  ProofLimits limits;
  limits.on_question = on_question;
  std::uint64_t left = kUnitsOfDomains;
  std::optional<KernelOfAllSizes> proved, failed;
  unsigned proved_narrowness = 0;
  bool goes_on = true;  // to wider domains of the same blocks
  bool had_any_block = false;
  for (const KernelDomain& domain : domains) {
    if (domain.has_any_block && !had_any_block) goes_on = proved.has_value();
    had_any_block = domain.has_any_block;
    // Blocks of any size are worth nothing if sizes are fewer for it.
    if (!goes_on || (proved && domain.narrowness > proved_narrowness)) continue;
    limits.units_of_kernel = std::min(limits.units_of_kernel, left);
    KernelProof proof = prove_kernel(module, description.mangled, domain.contract, limits);
    left -= std::min(left, proof.units);
    if (proof.answer == Answer::suspected) suspects.push_back(proof.suspect);
    KernelOfAllSizes one;
    one.fitted = {description.mangled, text, domain.contract, {}, 0, {}, {}};
    one.relations = domain.contract.conditions;
    goes_on = proof.answer == Answer::proved;
    one.where = goes_on ? "" : place_of(module, proof);
    one.proof = std::move(proof);
    (goes_on ? proved : failed) = std::move(one);
    if (goes_on) proved_narrowness = domain.narrowness;
  }
  if (proved) {
    result.kernels.push_back(std::move(*proved));
    return result;
  }
  if (failed) result.kernels.push_back(std::move(*failed));
  // A pair that outlives this function, as the case refers to it.
  static std::vector<std::unique_ptr<KernelPair>> wide_pairs;
  const KernelPair& wide = *wide_pairs.emplace_back(std::make_unique<KernelPair>(widened(kernel)));
  result.failure = confirmed(wide, suspects, settings);
  return result;
}

}  // namespace warpcheck
