// Proves the points of a pair's plan: what a worker does, of which there may be several for a pair.
//
// What is said of a point does not depend on who proves it, or in which order.  Two things are
// learnt from other points, and each has its own rule:
// - where data decides, so that values are not followed again (Certifier): of the same few points
//   of the plan, by every worker;
// - that executions are too many, so that they are not tried at larger points: where a point that
//   comes earlier in the plan was cut.  A worker may not know of it yet; so it tells what is known
//   of the point in both cases, and who has the outcomes of all earlier points takes the right one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
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

// How far the workers of a pair are.
struct SharedPlan {
  // Who proves a part of the plan takes it here; those that are slow, or have slow points, take
  // less.
  std::atomic<std::uint64_t> next;  // nobody has taken it
  std::atomic<std::uint64_t> end;   // nobody need take it

  // Points of which executions are too many.  More than fit are not known to other workers, which
  // then try in vain.
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

// Whether `point` is no smaller in anything.
[[nodiscard]] bool reaches(const Point& point, const Point& other);

class PointProver {
 public:
  PointProver(PairPlan& plan, const Emit& emit)
      : plan_(plan), emit_(emit), certifier_(plan.engine, false) {}

  // What nobody has taken, part by part.
  void run();
  // These sizes and blocks of the plan, ascending, each told before the next begins.
  void run(std::span<const std::uint64_t> those);

 private:
  struct Part {
    std::uint64_t begin = 0, end = 0;
  };
  [[nodiscard]] Part take();
  void find_versions();
  void find_versions(const Planned& of);
  void prove(std::uint64_t planned);
  void prove(Case a_case, const Point& point, std::uint32_t build);
  [[nodiscard]] Certificate certify(const Case& a_case);
  void learn_where_data_decides();
  [[nodiscard]] bool is_beyond_executions(const Point& point) const;
  void add_cut(const Point& point);
  void add_row(const Point& point, std::uint32_t build, PointOutcome outcome, PointOutcome beside);
  [[nodiscard]] std::uint32_t index_of(PointOutcome outcome);
  void tell();

  PairPlan& plan_;
  const Emit& emit_;
  Certifier certifier_;
  bool has_learnt_ = false;
  std::uint64_t planned_ = 0;  // the one that is being proved
  std::vector<Point> cuts_of_planned_;
  std::set<std::string> failures_;  // reasons of which a case was told
  ProvedMessage told_;              // not yet
};

}  // namespace warpcheck
