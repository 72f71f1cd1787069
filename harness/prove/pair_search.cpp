#include "harness/prove/pair_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/case/case_file.hpp"
#include "harness/search/search.hpp"

namespace warpcheck {
namespace {

// Whether the result depends on no other point.
bool is_settled(const auto& rows) {
  return std::ranges::all_of(rows, [](const auto& row) {
    return row.outcome == row.without_executions && !row.outcome->refused;
  });
}

}  // namespace

PairSearch::PairSearch(const AnyPair& pair, const ProveOptions& options, const ProofLog& log,
                       Engine& engine)
    : log_(log) {
  proof_.pair = &pair;
  try {
    Points points(pair, options.points);
    std::vector<Planned> planned = plan(points, options.points.size_max, options.points_max);
    // Clang 14 makes aggregates of braces alone.  NOLINTNEXTLINE(modernize-make-unique)
    plan_.reset(new PairPlan{pair, options, log, engine, std::move(points), std::move(planned)});
    is_reported_.resize(plan_->planned.size());
    plan_->shared->end = end_ = plan_->planned.size();
  } catch (const DomainError& error) {
    proof_.errors.emplace_back(error.what());
  }
}

// --- workers -------------------------------------------------------------------------------------

bool PairSearch::wants_worker() const {
  if (plan_ == nullptr) return false;
  if (!lost_.empty()) return !is_trying_again_;
  return crash_.empty() && plan_->shared->next < plan_->shared->end;
}

void PairSearch::start_worker(WorkerPool& pool, std::size_t number) {
  is_trying_again_ = !lost_.empty();
  pool.start(number, [this](const Emit& emit) {
    PointProver prover(*plan_, emit);
    if (lost_.empty()) {
      prover.run();
    } else {
      prover.run(lost_);
    }
  });
  ++running_;
}

void PairSearch::end_at(std::uint64_t planned) {
  end_ = std::min(end_, planned);
  plan_->shared->end = std::min<std::uint64_t>(plan_->shared->end, end_);
}

void PairSearch::on_end(const WorkerEnd& end) {
  --running_;
  if (!end.finished) {
    crash_ = end.failure;
    plan_->shared->end = 0;  // none until the place is known
  }
  if (running_ == 0 && (!crash_.empty() || is_trying_again_)) look_for_what_is_lost();
}

// When a worker dies, its unsent results are lost.  They are tried once more, so that the first
// point that kills a worker is known, and all points before it are proved.
void PairSearch::look_for_what_is_lost() {
  if (is_trying_again_) {
    is_trying_again_ = false;
    const auto first =
        std::ranges::find_if(lost_, [&](std::uint64_t planned) { return !is_reported_[planned]; });
    if (first != lost_.end()) {
      const auto [size, block] = plan_->planned[*first];
      add_error(fmt::format("size {}{}: {}", size,
                            block == 0 ? "" : fmt::format(", block {}", block), crash_));
      end_at(*first);
    } else {
      add_error(crash_);  // the crash does not happen again
      plan_->shared->end = end_;
    }
    lost_.clear();
    crash_.clear();
    return;
  }
  const std::uint64_t taken = std::min<std::uint64_t>(plan_->shared->next, end_);
  for (std::uint64_t planned = 0; planned < taken; ++planned) {
    if (!is_reported_[planned]) lost_.push_back(planned);
  }
  if (!lost_.empty()) return;
  // Before it took any, or after all.
  add_error(crash_);
  crash_.clear();
}

void PairSearch::add_error(const std::string& error) {
  if (std::ranges::count(proof_.errors, error) == 0) proof_.errors.push_back(error);
}

// --- received messages ---------------------------------------------------------------------------

void PairSearch::on_message(const Message& message) {
  const auto* const proved = std::get_if<ProvedMessage>(&message);
  if (proved == nullptr || !fits(*proved)) return add_error(internal_error(unexpected(message)));
  add(*proved);
  keep_in_order();
}

// Whether the message refers only to existing outcomes.
bool PairSearch::fits(const ProvedMessage& message) const {
  const std::size_t builds = plan_->options.builds.size();
  const auto is_planned = [&](std::uint64_t planned) {
    return planned < is_reported_.size() && !is_reported_[planned];
  };
  return (log_.is_kept() ? message.versions.size() == builds : message.versions.empty()) &&
         std::ranges::all_of(message.planned, is_planned) &&
         std::ranges::all_of(message.rows, [&](const auto& row) {
           return std::ranges::count(message.planned, row[0]) == 1 && row[2] < builds &&
                  row[3] < message.outcomes.size() && row[4] < message.outcomes.size();
         });
}

void PairSearch::add(const ProvedMessage& message) {
  versions_ = message.versions;
  std::vector<std::shared_ptr<const PointOutcome>> outcomes;
  for (const PointOutcome& outcome : message.outcomes)
    outcomes.push_back(std::make_shared<const PointOutcome>(outcome));
  for (const std::uint64_t planned : message.planned) {
    is_reported_[planned] = true;
    ++reported_;
    early_[planned];
  }
  for (const auto& [planned, grid, build, own, without_executions] : message.rows) {
    early_[planned].push_back({grid, build, outcomes[own], outcomes[without_executions]});
    if (outcomes[own]->refused) end_at(planned + 1);
  }
}

void PairSearch::keep_in_order() {
  while (!early_.empty() && early_.begin()->first == kept_ && kept_ < end_) {
    keep(kept_++, early_.begin()->second);
    early_.erase(early_.begin());
  }
}

// The weaker result of both builds.
void PairSearch::keep(std::uint64_t planned, const std::vector<Row>& rows) {
  const auto [size, block] = plan_->planned[planned];
  for (const Row& row : rows) {
    const Point point{size, block, row.grid};
    if (row.build == 0)
      proof_.points.push_back({.point = point, .proof = Proof::all_data, .same_bytes = true});
    ProvedPoint& whole = proof_.points.back();
    ProvedPoint one = keep(point, row);
    if (one.proof < whole.proof) {
      whole.proof = one.proof;
      whole.reason = std::move(one.reason);
      if (row.build != 0)
        whole.reason += fmt::format(" [{} build]", name_of(plan_->options.builds[row.build]));
    }
    whole.same_bytes = whole.same_bytes && one.same_bytes;
    whole.executions += one.executions;
    whole.cut = whole.cut || one.cut;
    if (row.build == 0 || one.equality > whole.equality) {
      whole.equality = one.equality;
      whole.unequal = std::move(one.unequal);
    }
    if (whole.varies.empty()) whole.varies = std::move(one.varies);
  }
}

ProvedPoint PairSearch::keep(const Point& point, const Row& row) {
  const bool is_beyond =
      row.outcome != row.without_executions &&
      std::ranges::any_of(cuts_, [&](const Point& cut) { return reaches(point, cut); });
  const PointOutcome& outcome = is_beyond ? *row.without_executions : *row.outcome;
  if (outcome.cut) cuts_.push_back(point);
  ProvedPoint proved{point,          outcome.proof,      outcome.reason, outcome.same_bytes,
                     outcome.varies, outcome.executions, outcome.cut,    outcome.equality,
                     outcome.unequal};
  if (outcome.refused) {
    add_error(outcome.reason);
  } else if (outcome.proof == Proof::failed) {
    if (failures_.insert(outcome.reason).second) {
      const std::string name(proof_.pair->name());
      proof_.failures.push_back(parse_case(outcome.case_text, name, Registry::global()).a_case);
    }
  } else if (log_.is_kept()) {
    const std::string key = key_of(proof_.pair->name(), name_of(plan_->options.builds[row.build]),
                                   versions_[row.build], point);
    if (log_.find(key) == nullptr) lines_ += line_of(key, proved);
  }
  return proved;
}

ProveProgress PairSearch::progress() const {
  return {.pair = proof_.pair, .pairs = 0, .done = reported_, .all = is_reported_.size()};
}

PairProof PairSearch::finish(bool interrupted) {
  proof_.interrupted = interrupted;
  // Points proved after a gap stay proved.
  for (const auto& [planned, rows] : early_) {
    if (interrupted && planned < end_ && is_settled(rows)) keep(planned, rows);
  }
  std::ranges::sort(proof_.points, {}, &ProvedPoint::point);
  return std::move(proof_);
}

}  // namespace warpcheck
