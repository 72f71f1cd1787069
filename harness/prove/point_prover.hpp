// Proves the points of a pair's plan in a worker; a pair may have several workers.
//
// The result for a point does not depend on which worker proves it, or in which order.  Two facts
// come from other points, and each has its own rule:
// - where data decides, so that values are not followed again (Certifier): every worker learns it
//   from the same few points of the plan;
// - that executions are too many, so that they are not tried at larger points: if an earlier point
//   of the plan was cut.  A worker may not know of it yet.  So it sends the result for both cases,
//   and the parent, which has the outcomes of all earlier points, selects one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/process/shared_memory.hpp"
#include "harness/process/worker_pool.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/plan.hpp"
#include "harness/prove/proof_log.hpp"
#include "harness/prove/prove.hpp"

namespace warpcheck {

// The progress of a pair's workers.
struct SharedPlan {
  // A worker takes its next part of the plan here; slow workers, and slow points, take smaller
  // parts.
  std::atomic<std::uint64_t> next;  // not taken by any worker
  std::atomic<std::uint64_t> end;   // need not be proved

  // Points with too many executions.  If there are more than fit, other workers do not know of
  // them, and try in vain.
  struct Cut {
    Point point;
    std::uint64_t planned = 0;
    std::atomic<bool> is_there;
  };
  std::atomic<std::uint32_t> cuts_begun;
  std::array<Cut, 1'024> cuts;
};

struct PairPlan {
  const AnyPair& pair;
  const ProveOptions& options;
  const ProofLog& log;
  Engine& engine;
  Points points;
  std::vector<Planned> planned;
  SharedMemory<SharedPlan> shared{};
};

// Whether `point` is at least as large as `other` in every respect.
[[nodiscard]] bool reaches(const Point& point, const Point& other);

class PointProver {
 public:
  PointProver(PairPlan& plan, const Emit& emit)
      : plan_(plan), emit_(emit), certifier_(plan.engine, false) {}

  // Proves ranges of the plan until none is left.
  void run();
  // Proves these sizes and blocks of the plan, ascending, and reports each before the next begins.
  void run(std::span<const std::uint64_t> those);

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  [[nodiscard]] Range take();
  void find_versions();
  void find_versions(const Planned& of);
  void prove(std::uint64_t planned);
  void prove(Case a_case, const Point& point, std::uint32_t build);
  [[nodiscard]] Certificate certify(const Case& a_case);
  void learn_where_data_decides();
  [[nodiscard]] bool is_beyond_executions(const Point& point) const;
  void add_cut(const Point& point);
  void add_row(const Point& point, std::uint32_t build, PointOutcome outcome,
               PointOutcome without_executions);
  [[nodiscard]] std::uint32_t index_of(PointOutcome outcome);
  void report();

  PairPlan& plan_;
  const Emit& emit_;
  Certifier certifier_;
  bool has_learnt_ = false;
  std::uint64_t planned_ = 0;  // the one that is being proved
  std::vector<Point> cuts_of_planned_;
  std::set<std::string> failures_;  // reasons for which a case was sent
  ProvedMessage unreported_;        // not sent yet
};

}  // namespace warpcheck
