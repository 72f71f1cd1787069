#include "harness/prove/point_prover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/case/case_file.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {
namespace {

// Small enough that all workers end together, large enough that inputs of a size are made once.
constexpr std::uint64_t kRangeMax = 32, kRangesOfWorker = 4;
constexpr std::uint64_t kLearntFrom = 8;
constexpr std::chrono::milliseconds kReportEvery{100};

Case case_of(const AnyPair& pair, const AnyInput& input, cudart::Build build) {
  return {.pair = &pair,
          .property = {},
          .input = input,
          .schedule = vgpu::Schedule{},
          .settings = {.build = build},
          .tape = {}};
}

// A failed case; running it again gives the verdict.
std::string text_of_failed(const Case& a_case) {
  return case_text({.a_case = a_case, .ptx_hash = 0, .kinds = {}, .classes = {}});
}

// What a Certificate and a ProvedPoint have in common.
PointOutcome outcome_of(const auto& known) {
  return {.proof = known.proof,
          .reason = known.reason,
          .same_bytes = known.same_bytes,
          .varies = known.varies,
          .equality = known.equality,
          .unequal = known.unequal};
}

}  // namespace

bool reaches(const Point& point, const Point& other) {
  return other.size <= point.size && other.block <= point.block && other.grid <= point.grid;
}

// --- the work and its messages -------------------------------------------------------------------

PointProver::Range PointProver::take() {
  SharedPlan& shared = *plan_.shared;
  std::uint64_t begin = shared.next;
  while (true) {
    const std::uint64_t end = shared.end;
    if (begin >= end) return {};
    const std::uint64_t count =
        std::clamp((end - begin) / (kRangesOfWorker * std::max(plan_.options.jobs, 1u)),
                   std::uint64_t{1}, kRangeMax);
    if (shared.next.compare_exchange_weak(begin, begin + count)) return {begin, begin + count};
  }
}

void PointProver::run() {
  find_versions();
  for (Range range = take(); range.begin != range.end; range = take()) {
    auto reported_at = std::chrono::steady_clock::now();
    for (std::uint64_t planned = range.begin; planned != range.end; ++planned) {
      prove(planned);
      // Limits the loss at an interruption.
      const auto now = std::chrono::steady_clock::now();
      if (now - reported_at < kReportEvery) continue;
      reported_at = now;
      report();
    }
    report();
  }
}

void PointProver::run(std::span<const std::uint64_t> those) {
  find_versions();
  for (const std::uint64_t planned : those) {
    prove(planned);
    report();
  }
}

void PointProver::report() {
  if (unreported_.planned.empty()) return;
  emit_(unreported_);
  unreported_.outcomes.clear();
  unreported_.planned.clear();
  unreported_.rows.clear();
}

std::uint32_t PointProver::index_of(PointOutcome outcome) {
  const auto found = std::ranges::find(unreported_.outcomes, outcome);
  const auto index = static_cast<std::uint32_t>(found - unreported_.outcomes.begin());
  if (found == unreported_.outcomes.end()) unreported_.outcomes.push_back(std::move(outcome));
  return index;
}

void PointProver::add_row(const Point& point, std::uint32_t build, PointOutcome outcome,
                          PointOutcome without_executions) {
  const std::uint32_t own = index_of(std::move(outcome)),
                      other = index_of(std::move(without_executions));
  unreported_.rows.push_back({static_cast<std::uint32_t>(planned_), point.grid, build, own, other});
}

// The texts of the kernels, by build: proofs of other texts are not valid.  Those of the largest
// input, because small ones may launch fewer kernels.
void PointProver::find_versions() {
  if (!plan_.log.is_kept()) return;
  for (std::uint32_t size = plan_.options.points.size_max + 1; size-- != 0;) {
    for (const std::uint32_t block : plan_.points.blocks()) {
      if (unreported_.versions.empty()) find_versions({size, block});
    }
    if (!unreported_.versions.empty()) return;
  }
}

void PointProver::find_versions(const Planned& of) {
  const std::vector<Points::Input> inputs = plan_.points.inputs(of.size, of.block);
  if (inputs.empty()) return;
  for (const cudart::Build build : plan_.options.builds) {
    TrialRunner runner(plan_.engine);
    const Verdict verdict = runner.run(case_of(plan_.pair, inputs.back().input, build));
    unreported_.versions.push_back(fmt::format("{:016x}", verdict.ptx_hash));
  }
}

// --- one size and block --------------------------------------------------------------------------

void PointProver::prove(std::uint64_t planned) {
  planned_ = planned;
  cuts_of_planned_.clear();
  const auto [size, block] = plan_.planned[planned];
  for (const Points::Input& input : plan_.points.inputs(size, block)) {
    std::uint32_t number = 0;
    for (const cudart::Build build : plan_.options.builds) {
      prove(case_of(plan_.pair, input.input, build), input.point, number++);
    }
  }
  unreported_.planned.push_back(planned);
}

void PointProver::prove(Case a_case, const Point& point, std::uint32_t build) {
  if (plan_.log.is_kept()) {
    const std::string key = key_of(plan_.pair.name(), name_of(a_case.settings.build),
                                   unreported_.versions.at(build), point);
    const ProvedPoint* const known = plan_.log.find(key);
    const bool lacks_equality =
        known != nullptr && known->proof == Proof::all_data && known->equality == Equality::none &&
        (plan_.pair.has_exact_reference() || plan_.pair.reference_kernel() != nullptr);
    if (known != nullptr && !lacks_equality) {
      if (known->cut) add_cut(point);
      PointOutcome outcome = outcome_of(*known);
      outcome.executions = known->executions;
      outcome.cut = known->cut;
      return add_row(point, build, outcome, outcome);
    }
  }
  const Certificate certificate = certify(a_case);
  PointOutcome outcome = outcome_of(certificate);
  if (certificate.counterexample && failures_.insert(outcome.reason).second)
    outcome.case_text = text_of_failed(*certificate.counterexample);
  outcome.refused = !certificate.verdict.refusals.empty();
  if (outcome.proof == Proof::failed && !certificate.counterexample &&
      failures_.insert(outcome.reason).second) {
    outcome.case_text = text_of_failed(a_case);
  }
  if (outcome.proof != Proof::tried || outcome.refused) {
    return add_row(point, build, outcome, outcome);
  }
  // A proof for independent threads holds in lockstep; a mere trial says nothing about lockstep.
  Case in_lockstep = a_case;
  in_lockstep.settings.warp_model = vgpu::WarpModel::lockstep;
  const Verdict lockstep = TrialRunner(plan_.engine).run(in_lockstep);
  const auto without_more = [&](PointOutcome of) {
    if (!lockstep.failed()) return of;
    of.proof = Proof::failed;
    of.reason = show_kinds(failure_kinds(lockstep)) + " [lockstep]";
    of.case_text = text_of_failed(in_lockstep);
    return of;
  };
  PointOutcome without_executions = without_more(outcome);
  if (plan_.options.executions.runs == 0 || is_beyond_executions(point)) {
    const bool is_new = without_executions.proof == Proof::failed &&
                        failures_.insert(without_executions.reason).second;
    if (!is_new) without_executions.case_text.clear();
    return add_row(point, build, without_executions, without_executions);
  }
  const Executions found = try_every_execution(a_case, plan_.options.executions, plan_.engine);
  if (found.failed) {
    outcome.proof = Proof::failed;
    outcome.reason = show_kinds(failure_kinds(found.verdict)) + " [an execution]";
    outcome.case_text = text_of_failed(*found.failed);
  } else if (!found.all || !certificate.verdict.findings.empty()) {
    // A note may be about undefined behaviour: then the executions that ran are not all.
    outcome.cut = !found.all;
    if (outcome.cut) add_cut(point);
    outcome.reason += "; " + text_of(found);
    outcome = without_more(std::move(outcome));
  } else {
    outcome.proof = Proof::every_execution;
    outcome.executions = found.count;
  }
  add_row(point, build, outcome, without_executions);
}

// Whether an earlier point that is no larger had too many executions.
bool PointProver::is_beyond_executions(const Point& point) const {
  const auto is_reached = [&](const Point& cut) { return reaches(point, cut); };
  if (std::ranges::any_of(cuts_of_planned_, is_reached)) return true;
  const SharedPlan& shared = *plan_.shared;
  return std::ranges::any_of(shared.cuts, [&](const SharedPlan::Cut& cut) {
    return cut.is_there && cut.planned < planned_ && is_reached(cut.point);
  });
}

void PointProver::add_cut(const Point& point) {
  cuts_of_planned_.push_back(point);
  SharedPlan& shared = *plan_.shared;
  const std::uint32_t index = shared.cuts_begun++;
  if (index >= shared.cuts.size()) return;
  shared.cuts[index].point = point;
  shared.cuts[index].planned = planned_;
  shared.cuts[index].is_there = true;
}

// --- facts from other points ---------------------------------------------------------------------

Certificate PointProver::certify(const Case& a_case) {
  Certificate certificate = certifier_.certify(a_case);
  if (!certifier_.has_followed_data() || std::exchange(has_learnt_, true)) return certificate;
  learn_where_data_decides();
  return certifier_.certify(a_case);
}

// Learns from points all over the plan, in its order.
void PointProver::learn_where_data_decides() {
  const std::uint64_t count = std::min<std::uint64_t>(kLearntFrom, plan_.planned.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto [size, block] = plan_.planned[(2 * i + 1) * plan_.planned.size() / (2 * count)];
    for (const Points::Input& input : plan_.points.inputs(size, block)) {
      for (const cudart::Build build : plan_.options.builds) {
        certifier_.learn(case_of(plan_.pair, input.input, build));
      }
    }
  }
}

}  // namespace warpcheck
