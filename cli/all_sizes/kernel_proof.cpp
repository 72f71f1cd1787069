#include "cli/all_sizes/kernel_proof.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cli/all_sizes/kernel_contract.hpp"
#include "cli/all_sizes/scalar_limits.hpp"
#include "cli/all_sizes/suspect_runs.hpp"

namespace warpcheck {
namespace {

using vgpu::symbolic::Answer;
using vgpu::symbolic::Condition;
using vgpu::symbolic::KernelProof;
using vgpu::symbolic::ProofLimits;
using vgpu::symbolic::Suspect;
using vgpu::symbolic::Term;

// The solver's units, of all domains.  What one code leaves is another one's, which gets those of
// one domain at least.
constexpr std::uint64_t kUnitsOfDomains = 40'000'000;
// Of a statement about the values of indices.
constexpr std::uint64_t kUnitsOfValues = 12'000'000;
// Of a statement about larger numbers than the proof's, or of a limit.
constexpr std::uint64_t kUnitsBeyond = 12'000'000;

// Integers may be as large as the proof says, beyond those of the trials.
KernelDescription widened(const AssumedKernel& kernel) {
  KernelDescription wide = kernel.assumptions.kernel;
  for (ScalarParameter& scalar : wide.scalars) {
    if (!is_integer(scalar.element)) continue;
    const auto given = kernel.ranges_given.find(scalar.name);
    if (given != kernel.ranges_given.end()) {
      scalar.range = given->second;
    } else {
      scalar.range.high = range_of(scalar.element).high;
    }
  }
  return wide;
}

// Runs are of the build that is proved, first.
std::vector<Settings> proved_build_first(const std::vector<Settings>& settings, bool is_optimized) {
  std::vector<Settings> ordered = settings;
  std::stable_partition(ordered.begin(), ordered.end(), [&](const Settings& one) {
    return (one.build == cudart::Build::optimized) == is_optimized;
  });
  return ordered;
}

// Integers of which somebody says how large they are: by 64 bits, or a range.
std::vector<std::string> said_to_be_large(const AssumedKernel& kernel) {
  std::vector<std::string> names;
  for (const ScalarParameter& scalar : kernel.assumptions.kernel.scalars) {
    if (!is_integer(scalar.element)) continue;
    const auto given = kernel.ranges_given.find(scalar.name);
    const bool is_said = given != kernel.ranges_given.end();
    if (is_said || bytes_of(scalar.element) == 8) names.push_back(scalar.name);
  }
  return names;
}

// `name == number`
bool is_said_equal(const Expression& condition, const std::string& name, const auto& is_number) {
  const std::string& text = condition.text();
  const std::size_t equals = text.find("==");
  if (equals == std::string::npos || text.find_first_of("|?!<>&", 0) != std::string::npos) {
    return false;
  }
  const std::string left = text.substr(0, text.find_last_not_of(' ', equals - 1) + 1);
  try {
    return left == name && is_number(Expression(text.substr(equals + 2)));
  } catch (const ExpressionError&) {
    return false;
  }
}

class KernelProver {
 public:
  KernelProver(const KernelPair& pair, const AssumedKernel& kernel,
               const std::vector<Settings>& settings, const AllSizesOptions& options,
               const std::string& text, bool is_shipped, std::uint64_t& units)
      : pair_(pair),
        kernel_(kernel),
        wants_limits_(options.limits),
        is_only_size_proved_(options.is_only_size_proved),
        is_shipped_(is_shipped),
        has_another_(is_shipped && options.less_optimized),
        units_(units),
        settings_(proved_build_first(settings, !pair.kernel().optimized.empty())),
        text_(std::make_shared<const std::string>(text)),
        module_(ptx::parse(*text_, pair.kernel().file)),
        function_(*module_.find_function(pair.kernel().mangled)) {
    limits_.on_question = options.on_question;
  }

  PairOfAllSizes all() {
    PairOfAllSizes result = answer();
    if (wants_limits_ && !result.failure && !result.kernels.empty()) {
      add_limits(result.kernels.front());
    }
    return result;
  }

 private:
  PairOfAllSizes answer() {
    PairOfAllSizes result;
    result.pair = &pair_;
    const std::vector<KernelDomain> domains = domains_of(kernel_, function_, result.obstacle);
    if (!result.obstacle.empty()) return result;
    try_domains(domains);
    if (proved_) {
      result.kernels.push_back(*std::move(proved_));
      result.failure = failure_beyond(result.kernels.front());
      return result;
    }
    if (failed_) result.kernels.push_back(*std::move(failed_));
    const bool keeps = has_number_of_trials(kernel_);
    SuspectRuns runs(kept_pair(keeps ? kernel_.assumptions.kernel : widened(kernel_)), settings_,
                     kernel_.assumptions.kernel.launch.has_block_for_each);
    for (const Suspect& suspect : suspects_) {
      if (result.failure) break;
      result.failure = runs.smallest_failing(suspect);
    }
    if (result.failure || result.kernels.empty()) return result;
    if (is_only_size_proved_) {
      result.kernels.front().proof.answer = Answer::proved;
      result.kernels.front().is_only_size = true;
    } else if (is_shipped_) {
      result.failure = failure_beyond(result.kernels.front());
    }
    return result;
  }

  KernelOfAllSizes asked(const KernelDomain& domain, std::uint64_t units) {
    limits_.units_of_kernel = units;
    KernelOfAllSizes one{};
    one.fitted = {pair_.kernel().mangled, text_, domain.contract, {}, 0, {}, {}};
    one.fitted.contract.has_weak_volatile = settings_.front().checkers.volatile_is_weak;
    one.relations = domain.contract.conditions;
    one.proof = prove_kernel(module_, pair_.kernel().mangled, one.fitted.contract, limits_);
    if (one.proof.answer != Answer::proved) one.where = place_of(module_, one.proof.location);
    one.left_barriers = left_barriers(module_, one.proof);
    return one;
  }

  // From narrow to wide.
  void try_domains(const std::vector<KernelDomain>& domains) {
    bool goes_on = true;  // to wider domains of the same blocks
    bool had_any_block = false;
    for (const KernelDomain& domain : domains) {
      if (domain.has_any_block && !had_any_block) goes_on = proved_.has_value();
      had_any_block = domain.has_any_block;
      // Blocks of any size are worth nothing if sizes are fewer for it.
      if (!goes_on || (proved_ && domain.narrowness > proved_narrowness_)) continue;
      KernelOfAllSizes one = asked(domain, std::min(ProofLimits{}.units_of_kernel, units_));
      units_ -= std::min(units_, one.proof.units);
      if (one.proof.answer == Answer::suspected && !is_beyond_trials(one.proof)) {
        suspects_.push_back(one.proof.suspect);
      }
      goes_on = one.proof.answer == Answer::proved;
      (goes_on ? proved_ : failed_) = std::move(one);
      if (goes_on) proved_narrowness_ = domain.narrowness;
    }
    if (!proved_ && !domains.empty()) try_domains_of_trials(domains.front());
    if (!proved_ && !domains.empty()) try_launches_that_cover(domains.front());
  }

  // What is suspected only of launches with far more threads than there are numbers, as where
  // `8 * i` wraps, is no defect of those that the kernel is made for.
  void try_launches_that_cover(KernelDomain domain) {
    constexpr std::uint64_t kThreadsMin = 1 << 20, kThreadsOfNumber = 64;
    const bool are_far_larger = std::ranges::all_of(suspects_, [&](const Suspect& suspect) {
      std::uint64_t largest = 1;
      for (const auto& [name, value] : suspect.scalars) {
        largest = std::max(largest, static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
      }
      const std::uint64_t threads = suspect.grid.count() * suspect.block.count();
      return threads > kThreadsMin && threads / kThreadsOfNumber > largest;
    });
    if (suspects_.empty() || !are_far_larger) return;
    for (const Expression& condition : covering(kernel_)) {
      const auto holds = term_of(condition);
      if (!holds) return;
      domain.contract.conditions.push_back(
          {*holds, Condition::Relation::not_equal, Term::constant(0)});
    }
    try_narrower(domain, std::min(ProofLimits{}.units_of_kernel, units_), 1);
    if (proved_) suspects_.clear();
  }

  // What trials assumed beside it: indices lead into the array behind them, and numbers are no
  // larger than those for which an array's length was found.
  void try_domains_of_trials(KernelDomain domain) {
    if (take_values_of_trials(kernel_, domain.contract)) {
      try_narrower(domain, kUnitsOfValues, 0);
      if (proved_) return;
    }
    if (!has_number_of_trials(kernel_)) return;
    keep_to_trials(kernel_, domain.contract);
    try_narrower(domain, has_another_ ? units_ / 2 : units_, 1);
  }

  void try_narrower(const KernelDomain& domain, std::uint64_t units, unsigned narrower) {
    units = std::min({ProofLimits{}.units_of_kernel, units, units_});
    KernelOfAllSizes one = asked(domain, units);
    units_ -= std::min(units_, one.proof.units);
    if (one.proof.answer == Answer::suspected) suspects_.push_back(one.proof.suspect);
    const bool is_proved = one.proof.answer == Answer::proved;
    // That there is no race, at least, is worth more of the wider domain.
    const bool says_more = failed_ && failed_->proof.is_free_of_races;
    if (is_proved || one.proof.answer == Answer::suspected || !says_more) {
      (is_proved ? proved_ : failed_) = std::move(one);
    }
    if (is_proved) proved_narrowness_ = domain.narrowness + narrower;
  }

  // Whether the array's length is guessed, or a number is larger than those for which trials needed
  // a fixed one.
  [[nodiscard]] bool is_beyond_trials(const KernelProof& proof) const {
    if (kernel_.assumptions.guessed.contains(proof.array)) return true;
    if (!is_number_of_trials(kernel_, proof.array)) return false;
    return std::ranges::any_of(
        kernel_.assumptions.kernel.scalars, [&](const ScalarParameter& scalar) {
          const auto value = proof.suspect.scalars.find(scalar.name);
          return value != proof.suspect.scalars.end() && value->second > scalar.range.high &&
                 !kernel_.is_range_given(scalar.name);
        });
  }

  // Of numbers that somebody says are larger than the proof allows, a case that fails.  If they are
  // proved, that replaces the statement.
  std::optional<Case> failure_beyond(KernelOfAllSizes& known) {
    const std::vector<std::string> large = said_to_be_large(kernel_);
    const bool is_whole = known.proof.answer == Answer::proved && proved_narrowness_ == 0;
    if (large.empty() || is_whole) return std::nullopt;
    std::string obstacle;
    KernelDomain domain = domain_beyond(kernel_, function_, large, kModestNumber, obstacle);
    KernelOfAllSizes one = asked(domain, kUnitsBeyond);
    if (one.proof.answer == Answer::proved) {
      known = std::move(one);
      return std::nullopt;
    }
    const std::string undecided = not_decided(one.proof, one.where);
    std::optional<Case> found = failing_beyond(one, large);
    if (found) {
      known = std::move(one);
    } else if (known.proof.answer == Answer::proved) {
      known.beyond = undecided;
    }
    return found;
  }

  // A case of what is suspected of larger numbers; of the largest ones if nothing is.
  std::optional<Case> failing_beyond(KernelOfAllSizes& one, const std::vector<std::string>& large) {
    KernelDescription wide = widened(kernel_);
    std::ranges::copy(covering(kernel_), std::back_inserter(wide.conditions));
    SuspectRuns runs(kept_pair(std::move(wide)), settings_,
                     kernel_.assumptions.kernel.launch.has_block_for_each);
    std::map<std::string, std::int64_t> largest;
    for_each_scalar(one.fitted.contract,
                    [&](const auto& scalar) { largest[scalar.name] = scalar.range.high; });
    std::optional<Case> found = one.proof.answer == Answer::suspected
                                    ? runs.smallest_failing(one.proof.suspect, large)
                                    : runs.smallest_failing_large(largest);
    if (found) one.wrap = runs.wrap_of(*found);
    return found;
  }

  // Of each integer, where the others are as large as the proof allows.
  void add_limits(KernelOfAllSizes& known) {
    KernelDescription wide = widened(kernel_);
    std::ranges::copy(covering(kernel_), std::back_inserter(wide.conditions));
    const KernelPair& pair = kept_pair(std::move(wide));
    LimitSearch search(module_, pair, settings_, limits_.on_question,
                       kernel_.assumptions.kernel.launch.has_block_for_each);
    std::vector<std::string> names;
    std::int64_t most = kModestNumber;
    for_each_parameter(known.fitted.contract, [&](const auto& one) {
      if (one.kind != vgpu::symbolic::ParameterContract::Kind::scalar) return;
      if (one.range.low < one.range.high) names.push_back(one.name);
      most = std::min(most, one.range.high);
    });
    for (const std::string& name : names) {
      std::string obstacle;
      const KernelDomain domain = domain_beyond(kernel_, function_, {name}, most, obstacle);
      known.limits.push_back(search.of(name, domain.contract, std::nullopt));
    }
  }

  const KernelPair& pair_;
  const AssumedKernel& kernel_;
  bool wants_limits_;
  bool is_only_size_proved_;
  bool is_shipped_, has_another_;  // another code may be asked about after this one
  std::uint64_t& units_;           // that are left
  std::vector<Settings> settings_;
  std::shared_ptr<const std::string> text_;
  const ptx::Module module_;
  const ptx::Function& function_;
  ProofLimits limits_;
  std::vector<Suspect> suspects_;
  std::optional<KernelOfAllSizes> proved_, failed_;
  unsigned proved_narrowness_ = 0;
};

}  // namespace

bool has_one_size(const AssumedKernel& kernel) {
  if (!kernel.is_block_given) return false;  // other blocks are asked about, too
  const KernelDescription& one = kernel.assumptions.kernel;
  const auto is_number = [](const Expression& expression) {
    return expression.value([](std::string_view) { return std::nullopt; }).has_value();
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& grid = one.launch.grid[i];
    const auto& block = one.launch.block[i];
    const bool is_open = static_cast<int>(i) < std::max(one.launch.grid_dims, 1) && !grid;
    if (is_open || (grid && !is_number(*grid)) || (block && !is_number(*block))) return false;
  }
  return std::ranges::all_of(one.scalars, [&](const ScalarParameter& scalar) {
    const auto given = kernel.ranges_given.find(scalar.name);
    const bool is_one_value =
        given != kernel.ranges_given.end() && given->second.low == given->second.high;
    return is_one_value || std::ranges::any_of(one.conditions, [&](const Expression& condition) {
             return is_said_equal(condition, scalar.name, is_number);
           });
  });
}

PairOfAllSizes prove_kernel_file(const KernelPair& pair, const AssumedKernel& kernel,
                                 const std::vector<Settings>& settings,
                                 const AllSizesOptions& options) {
  const KernelDescription& described = pair.kernel();
  const std::string& code =
      described.optimized.empty() ? described.unoptimized : described.optimized;
  std::uint64_t units = kUnitsOfDomains;
  PairOfAllSizes shipped = KernelProver(pair, kernel, settings, options, code, true, units).all();
  shipped.conditions = kernel.assumptions.conditions;
  const bool is_decided = shipped.is_proved() || shipped.failure;
  if (is_decided || !shipped.obstacle.empty() || !options.less_optimized) return shipped;
  // Loops that the optimiser has unrolled are harder to follow than those of the source.
  const std::optional<std::string> text = options.less_optimized();
  if (!text) return shipped;
  units = std::max(units, ProofLimits{}.units_of_kernel);
  PairOfAllSizes other = KernelProver(pair, kernel, settings, options, *text, false, units).all();
  for (KernelOfAllSizes& one : other.kernels) one.is_less_optimized = true;
  other.conditions = kernel.assumptions.conditions;
  return other.is_proved() || other.failure ? other : shipped;
}

}  // namespace warpcheck
