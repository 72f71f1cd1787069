// Proofs of pairs, point by point: every size and launch of the domain, in both builds.
//
// A point is as good as the worse of its builds.  What was done is kept in a file, a line a point,
// so that a search that was interrupted goes on where it was; a line counts as long as the kernels
// are the same.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/executions/executions.hpp"
#include "harness/prove/certificate.hpp"
#include "harness/prove/points.hpp"

namespace warpcheck {

struct ProveOptions {
  PointOptions points;
  // Sizes times blocks of a pair; more are thinned out, those where kernels tend to break last.
  std::uint64_t points_max = 20'000;
  // Where nothing else proves a point: so many runs at most, to try every execution.  0: none.
  ExecutionLimits executions{};
  std::vector<cudart::Build> builds{cudart::Build::optimized, cudart::Build::unoptimized};
  std::function<void(std::uint64_t done, std::uint64_t all)> on_point = {};
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct ProvedPoint {
  Point point;
  Proof proof = Proof::tried;
  std::string reason{};  // why it is no better
  bool same_bytes = false;
  std::string varies{};
  std::uint64_t executions = 0;  // every_execution: so many, of both builds
  friend bool operator==(const ProvedPoint&, const ProvedPoint&) = default;
};

struct PairProof {
  const AnyPair* pair = nullptr;
  std::vector<ProvedPoint> points{};  // ascending
  std::vector<Case> failures{};       // one for each reason to have failed
  std::vector<std::string> errors{};  // why nothing could be run
  bool interrupted = false;

  [[nodiscard]] std::uint64_t count(Proof proof) const;
  [[nodiscard]] std::uint64_t executions() const;
  [[nodiscard]] Proof worst() const;
};

// Lines of points that are known, by key; a file of a search.
class ProofLog {
 public:
  // Empty path: nothing is kept.  Throws CaseFileError.
  explicit ProofLog(std::string path);
  [[nodiscard]] bool is_kept() const { return !path_.empty(); }
  [[nodiscard]] const ProvedPoint* find(const std::string& key) const;
  void add(const std::string& key, const ProvedPoint& point);

 private:
  std::string path_;
  std::map<std::string, ProvedPoint> known_;
};

[[nodiscard]] PairProof prove_pair(const AnyPair& pair, const ProveOptions& options, ProofLog& log,
                                   Engine& engine = virtual_gpu());

}  // namespace warpcheck
