// The proofs of one pair, in the parent of its workers: the remaining work and the received
// results.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/process/worker_pool.hpp"
#include "harness/prove/point_prover.hpp"
#include "harness/prove/prove.hpp"

namespace warpcheck {

class PairSearch {
 public:
  // A pair whose points cannot be made is done at once.
  PairSearch(const AnyPair& pair, const ProveOptions& options, const ProofLog& log, Engine& engine);

  [[nodiscard]] bool wants_worker() const;
  [[nodiscard]] bool is_done() const { return running_ == 0 && !wants_worker(); }
  void start_worker(WorkerPool& pool, std::size_t number);
  void on_message(const Message& message);
  void on_unreadable(const ProtocolError& error) { add_error(internal_error(error)); }
  void on_end(const WorkerEnd& end);

  [[nodiscard]] ProveProgress progress() const;
  // Lines for the log about results since the latest call.
  [[nodiscard]] std::string take_lines() { return std::exchange(lines_, {}); }
  // interrupted: before it was done. Call before the last take_lines().
  [[nodiscard]] PairProof finish(bool interrupted);

 private:
  // A point in one build.
  struct Row {
    std::uint32_t grid = 0, build = 0;
    std::shared_ptr<const PointOutcome> outcome, without_executions;  // ProvedMessage
  };

  [[nodiscard]] bool fits(const ProvedMessage& message) const;
  void add(const ProvedMessage& message);
  void keep_in_order();
  void keep(std::uint64_t planned, const std::vector<Row>& rows);
  ProvedPoint keep(const Point& point, const Row& row);
  void look_for_what_is_lost();
  void end_at(std::uint64_t planned);
  void add_error(const std::string& error);

  const ProofLog& log_;
  PairProof proof_;
  std::string lines_;
  std::unique_ptr<PairPlan> plan_;  // null: it has no points
  std::uint64_t end_ = 0;           // of the plan: points after an error are not reported
  std::vector<std::string> versions_;
  std::uint64_t running_ = 0;        // workers
  std::string crash_;                // of a worker
  std::vector<std::uint64_t> lost_;  // sizes and blocks that a worker took and did not report
  bool is_trying_again_ = false;     // those

  std::vector<bool> is_reported_;  // by number in the plan
  std::uint64_t reported_ = 0, kept_ = 0;
  std::map<std::uint64_t, std::vector<Row>> early_;  // reported before all earlier ones were
  std::vector<Point> cuts_;
  std::set<std::string> failures_;
};

}  // namespace warpcheck
