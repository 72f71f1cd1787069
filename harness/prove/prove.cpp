#include "harness/prove/prove.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "harness/process/worker_pool.hpp"
#include "harness/prove/pair_search.hpp"

namespace warpcheck {
namespace {

// Proves pairs in their order; the next pair begins while the last points of one are proved.
class Prover final : public WorkerListener {
 public:
  Prover(std::span<const AnyPair* const> pairs, const ProveOptions& options, ProofLog& log,
         const std::function<void(const PairProof&)>& on_proved, Engine& engine)
      : pairs_(pairs), options_(options), log_(log), on_proved_(on_proved), engine_(engine) {}

  std::vector<PairProof> run() {
    while (proofs_.size() < pairs_.size() && !is_stopped()) {
      start_workers();
      if (pool_.running() != 0) pool_.wait(200, *this);
      // The log has the order of the pairs.
      if (!begun_.empty()) log_.add(begun_.begin()->second->take_lines());
      while (!begun_.empty() && begun_.begin()->second->is_done()) finish_first(false);
      if (options_.on_wait && !begun_.empty()) options_.on_wait(progress());
    }
    pool_.stop_all(*this);
    while (!begun_.empty()) finish_first(true);
    return std::move(proofs_);
  }

  void on_message(std::size_t worker, const Message& message) override {
    search_of(worker).on_message(message);
  }
  void on_unreadable(std::size_t worker, const ProtocolError& error) override {
    search_of(worker).on_unreadable(error);
  }
  void on_end(std::size_t worker, const WorkerEnd& end) override {
    if (!is_stopped()) search_of(worker).on_end(end);
  }

 private:
  [[nodiscard]] bool is_stopped() const { return options_.stop != nullptr && *options_.stop != 0; }
  PairSearch& search_of(std::size_t worker) { return *begun_.at(pair_of_.at(worker)); }

  void start_workers() {
    while (pool_.running() < std::max(options_.jobs, 1u)) {
      auto wanting = std::ranges::find_if(
          begun_, [](const auto& search) { return search.second->wants_worker(); });
      if (wanting == begun_.end()) {
        if (next_ == pairs_.size()) return;
        begun_.emplace(next_,
                       std::make_unique<PairSearch>(*pairs_[next_], options_, log_, engine_));
        ++next_;
        continue;
      }
      pair_of_.push_back(wanting->first);
      wanting->second->start_worker(pool_, pair_of_.size() - 1);
    }
  }

  void finish_first(bool interrupted) {
    PairSearch& first = *begun_.begin()->second;
    proofs_.push_back(first.finish(interrupted));
    log_.add(first.take_lines());
    begun_.erase(begun_.begin());
    if (on_proved_) on_proved_(proofs_.back());
  }

  [[nodiscard]] ProveProgress progress() const {
    ProveProgress progress = begun_.begin()->second->progress();
    progress.pairs = proofs_.size();
    return progress;
  }

  std::span<const AnyPair* const> pairs_;
  const ProveOptions& options_;
  ProofLog& log_;
  const std::function<void(const PairProof&)>& on_proved_;
  Engine& engine_;
  std::map<std::size_t, std::unique_ptr<PairSearch>> begun_;  // by number of the pair
  std::size_t next_ = 0;                                      // next pair to begin
  std::vector<std::size_t> pair_of_;                          // by number of the worker
  std::vector<PairProof> proofs_;
  WorkerPool pool_;
};

}  // namespace

std::uint64_t PairProof::count(Proof proof) const {
  return static_cast<std::uint64_t>(std::ranges::count(points, proof, &ProvedPoint::proof));
}

std::uint64_t PairProof::count(Equality equality) const {
  return static_cast<std::uint64_t>(std::ranges::count(points, equality, &ProvedPoint::equality));
}

std::uint64_t PairProof::executions() const {
  std::uint64_t sum = 0;
  for (const ProvedPoint& point : points) sum += point.executions;
  return sum;
}

Proof PairProof::worst() const {
  Proof worst = points.empty() ? Proof::tried : Proof::all_data;
  for (const ProvedPoint& point : points) worst = std::min(worst, point.proof);
  return worst;
}

std::vector<PairProof> prove_pairs(std::span<const AnyPair* const> pairs,
                                   const ProveOptions& options, ProofLog& log,
                                   const std::function<void(const PairProof&)>& on_proved,
                                   Engine& engine) {
  return Prover(pairs, options, log, on_proved, engine).run();
}

}  // namespace warpcheck
