#include "cli/all_sizes/all_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "cli/all_sizes/kernel_contract.hpp"
#include "cli/all_sizes/scalar_limits.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/input/json.hpp"
#include "harness/kernel/kernel_pair.hpp"
#include "harness/prove/points.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/experiment_engine.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {
namespace {

using vgpu::symbolic::Answer;
using vgpu::symbolic::Condition;
using vgpu::symbolic::KernelContract;
using vgpu::symbolic::KernelProof;
using vgpu::symbolic::ParameterContract;
using vgpu::symbolic::Suspect;
using vgpu::symbolic::Term;

constexpr std::uint64_t kInputs = 60;
// The solver's, of all attempts to prove one kernel: less than a minute of any machine.
constexpr std::uint64_t kUnitsOfKernel = 40'000'000;
constexpr std::uint32_t kSizeTried = 1U << 16;  // if the domain has it, it has all

// The inputs that are observed: drawn ones, and points of several blocks.
std::vector<Case> cases_to_observe(const AnyPair& pair, Points& points) {
  std::vector<Case> cases;
  for (std::uint64_t i = 0; i < kInputs; ++i) cases.push_back(nth_case(pair, "", {}, 1, i));
  for (const std::uint32_t size : {0U, 1U, 2U, 7U, 64U, 65U, 100U, 257U, 700U}) {
    for (const std::uint32_t block : {1U, 2U, 3U, 32U, 33U, 100U, 256U}) {
      for (Points::Input& one : points.inputs(size, points.has_blocks() ? block : 0)) {
        Case& added = cases.emplace_back();
        added.pair = &pair;
        added.input = std::move(one.input);
      }
      if (!points.has_blocks()) break;
    }
  }
  for (Case& one : cases) one.schedule = vgpu::Schedule{};
  return cases;
}

// The largest number for which `holds`, which holds for `low` and for nothing above the answer.
std::int64_t largest(std::int64_t low, std::int64_t high, const auto& holds) {
  if (holds(high)) return high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

DomainLimits limits_of(const AnyPair& pair, Points& points, const std::vector<Case>& cases) {
  DomainLimits limits;
  const std::uint32_t block = points.has_blocks() ? 1'024 : 0;
  const auto has_size = [&](std::int64_t size) {
    const auto count = static_cast<std::uint32_t>(size);
    for (const std::uint32_t width : {block, block / 2, block / 16, block / 1'024}) {
      if (!points.inputs(count, width).empty()) return true;
      if (block == 0) break;
    }
    return false;
  };
  std::int64_t known = 0;
  for (const Case& one : cases) {
    const Json json = pair.to_json(one.input);
    if (!json.is_object()) continue;
    for (const Json& field : json) {
      if (field.is_array())
        known = std::max<std::int64_t>(known, static_cast<std::int64_t>(field.size()));
    }
  }
  if (!has_size(kSizeTried)) {
    limits.elements_max = std::max(known, largest(0, kSizeTried, has_size));
  }
  // Launches of the input's grid: as many blocks as the domain accepts.
  std::int64_t most = 0;
  for (const Case& one : cases) {
    const Json json = pair.to_json(one.input);
    if (!json.is_object()) continue;
    for (const Json& field : json) {
      if (!is_launch(field)) continue;
      const auto width = field.at("block").at(0).get<std::uint32_t>();
      const auto accepts = [&](std::int64_t grid) {
        const InputEdit edit{
            .launch = InputEdit::Shape{{static_cast<std::uint32_t>(grid), 1, 1}, {width, 1, 1}}};
        const AnyInput edited = pair.edited(one.input, edit);
        return edited != nullptr && pair.in_domain(edited);
      };
      const std::int64_t own = field.at("grid").at(0).get<std::int64_t>();
      if (own >= 1) most = std::max(most, largest(own, 2'147'483'647, accepts));
    }
  }
  if (most > 0) limits.grid_max = most;
  return limits;
}

// Adds conditions that no array has more than some bytes.  False: no length depends on anything.
bool cap_arrays(KernelContract& contract) {
  bool has_cap = false;
  for (const auto& one : contract.parameters) {
    if (one.kind != ParameterContract::Kind::pointer) continue;
    if (one.bytes.kind == Term::Kind::constant) continue;
    const Condition cap{one.bytes, Condition::Relation::less_or_equal,
                        Term::constant(kModestNumber)};
    if (std::ranges::find(contract.conditions, cap) == contract.conditions.end())
      contract.conditions.push_back(cap);
    has_cap = true;
  }
  return has_cap;
}

// With as few relations as possible: without any, then with all that were observed.
KernelOfAllSizes prove_fitted(FittedKernel fitted, const ptx::Edits& edits,
                              const OnQuestion& on_question) {
  KernelOfAllSizes result{};
  result.fitted = std::move(fitted);
  ptx::Module module = ptx::parse(*result.fitted.ptx, "embedded PTX");
  ptx::apply_edits(module, edits);
  vgpu::symbolic::ProofLimits limits;
  limits.on_question = on_question;
  std::uint64_t left = kUnitsOfKernel;
  const auto attempt = [&](const KernelContract& contract) {
    limits.units_of_kernel = std::min(limits.units_of_kernel, left);
    result.proof = prove_kernel(module, result.fitted.kernel, contract, limits);
    left -= std::min(left, result.proof.units);
    return result.proof.answer == Answer::proved;
  };
  KernelContract related = result.fitted.contract;
  related.conditions = result.fitted.relations;
  bool is_proved = attempt(result.fitted.contract);
  if (!is_proved && !related.conditions.empty()) {
    is_proved = attempt(related);
    result.relations = related.conditions;
  }
  // Near 2^31 elements numbers of elements may wrap.
  for (const std::int64_t limit : {2'147'480'000LL, 1'000'000'000LL}) {
    if (is_proved || result.fitted.unlimited.empty()) break;
    for (const std::size_t i : result.fitted.unlimited) related.parameters[i].range.high = limit;
    const KernelProof before = result.proof;
    is_proved = attempt(related);
    if (is_proved) {
      result.fitted.contract = related;
    } else {
      result.proof = before;
    }
  }
  // Products of modest numbers may wrap, too, where arrays are larger than memory is.
  if (!is_proved && !result.fitted.unlimited.empty() && cap_arrays(related)) {
    const KernelProof before = result.proof;
    is_proved = attempt(related);
    if (is_proved) {
      result.fitted.contract.parameters = related.parameters;
      result.relations = related.conditions;
    } else {
      result.proof = before;
    }
  }
  if (!is_proved) result.where = place_of(module, result.proof.location);
  result.left_barriers = left_barriers(module, result.proof);
  return result;
}

// Runs what the solver suspects, and what is near; returns the first case that fails.
std::optional<Case> find_failure(const AnyPair& pair, Points& points,
                                 const std::vector<KernelOfAllSizes>& kernels,
                                 const ptx::Edits& edits) {
  std::set<std::uint32_t> sizes{0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 65, 100, 513, 1'000};
  std::vector<std::uint32_t> blocks{1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 64, 96, 100, 256};
  for (const KernelOfAllSizes& one : kernels) {
    if (one.proof.answer != Answer::suspected) continue;
    blocks.insert(blocks.begin(), one.proof.suspect.block.x);
    for (const auto& [name, value] : one.proof.suspect.scalars) {
      if (value >= 0 && value <= kSizeTried) sizes.insert(static_cast<std::uint32_t>(value));
    }
  }
  if (!points.has_blocks()) blocks = {0};
  ExperimentEngine edited(virtual_gpu(), edits);
  TrialRunner runner(edits.empty() ? virtual_gpu() : edited);
  for (const std::uint32_t size : sizes) {
    for (const std::uint32_t block : blocks) {
      for (Points::Input& one : points.inputs(size, block)) {
        Case a_case;
        a_case.pair = &pair;
        a_case.input = std::move(one.input);
        a_case.schedule = vgpu::Schedule{};
        a_case.settings.warp_model = vgpu::WarpModel::independent;
        if (runner.run(a_case).failed()) return a_case;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

OnQuestion question_files(const std::string& directory) {
  if (directory.empty()) return {};
  std::filesystem::create_directories(directory);
  return [directory, number = 0](const std::string& question) mutable {
    write_file_atomically(fmt::format("{}/{:06}.smt2", directory, ++number), question);
  };
}

std::vector<std::string> left_barriers(const ptx::Module& module, const KernelProof& proof) {
  std::vector<std::string> places;
  for (const ptx::SourceLocation& at : proof.left_barriers) {
    const std::string place = place_of(module, at);
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
}

std::string place_of(const ptx::Module& module, ptx::SourceLocation at) {
  if (at.line == 0 || at.file >= module.files.size()) return {};
  // The user's line, of what a header of the toolkit wraps.
  while (at.inlined_at != ptx::kNone && vgpu::is_library_header(module.files[at.file])) {
    at = module.locations[at.inlined_at];
  }
  const std::string& file = module.files[at.file];
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), at.line);
}

ShrunkCase shrunk_failure(const Case& failure, TrialRunner& runner) {
  if (!is_sparse(*failure.pair, failure.input)) return shrink(failure, runner);
  ShrunkCase same{};
  same.a_case = failure;
  same.verdict = runner.run(failure);
  same.complete = true;
  return same;
}

bool PairOfAllSizes::is_proved() const {
  return obstacle.empty() && !failure && !kernels.empty() &&
         std::ranges::all_of(kernels, [](const KernelOfAllSizes& one) {
           return one.proof.answer == Answer::proved;
         });
}

PairOfAllSizes prove_all_sizes(const AnyPair& pair, const ptx::Edits& edits,
                               const AllSizesOptions& options) {
  PairOfAllSizes result;
  result.pair = &pair;
  Points points(pair, {});
  const std::vector<Case> cases = cases_to_observe(pair, points);
  result.inputs = cases.size();
  const DomainLimits limits = limits_of(pair, points, cases);
  for (FittedKernel& fitted : fit_contracts(observe_launches(cases), limits)) {
    result.kernels.push_back(prove_fitted(std::move(fitted), edits, options.on_question));
    KernelOfAllSizes& made = result.kernels.back();
    if (options.limits) made.limits = limits_of(made, options.on_question);
  }
  if (result.kernels.empty()) result.obstacle = "no kernel was launched";
  // Also if all kernels are proved: the host is no part of the proof, nor are results.
  result.failure = find_failure(pair, points, result.kernels, edits);
  for (KernelOfAllSizes& one : result.kernels) {
    if (result.failure || !edits.empty()) break;
    result.failure = failure_beyond(one, options.on_question);
  }
  return result;
}

}  // namespace warpcheck
