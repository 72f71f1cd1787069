// Proofs of pairs, point by point: every size and launch of the domain, in both builds.
//
// A point is as good as the worse of its builds.  Points are proved by worker processes
// (point_prover.hpp); what is said of them is the same for any number of workers.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/executions/executions.hpp"
#include "harness/prove/points.hpp"
#include "harness/prove/proof_log.hpp"

namespace warpcheck {

struct ProveProgress {
  const AnyPair* pair = nullptr;    // the first that is not done
  std::uint64_t pairs = 0;          // that are
  std::uint64_t done = 0, all = 0;  // of its sizes and blocks
};

struct ProveOptions {
  PointOptions points;
  // Sizes times blocks of a pair; more are thinned out, those where kernels tend to break last.
  std::uint64_t points_max = 20'000;
  // Where nothing else proves a point: so many runs at most, to try every execution.  0: none.
  ExecutionLimits executions{};
  std::vector<cudart::Build> builds{cudart::Build::optimized, cudart::Build::unoptimized};
  unsigned jobs = 1;  // processes
  // Called every 200 ms at least.
  std::function<void(const ProveProgress&)> on_wait = {};
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct PairProof {
  const AnyPair* pair = nullptr;
  std::vector<ProvedPoint> points{};  // ascending
  std::vector<Case> failures{};       // one for each reason to have failed
  std::vector<std::string> errors{};  // why nothing, or nothing more, could be run
  bool interrupted = false;

  [[nodiscard]] std::uint64_t count(Proof proof) const;
  [[nodiscard]] std::uint64_t executions() const;
  [[nodiscard]] Proof worst() const;
};

// In order of `pairs`; `on_proved` is told of each pair as soon as it and those before are done.
// When *stop becomes non-zero, what is proved until then is kept, and pairs that were not begun are
// left out.
std::vector<PairProof> prove_pairs(std::span<const AnyPair* const> pairs,
                                   const ProveOptions& options, ProofLog& log,
                                   const std::function<void(const PairProof&)>& on_proved = {},
                                   Engine& engine = virtual_gpu());

}  // namespace warpcheck
