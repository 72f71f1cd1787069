// Proofs of pairs, point by point: every size and launch of the domain, in both builds.
//
// The result of a point is the weaker one of its builds.  Worker processes prove the points
// (point_prover.hpp); the result is the same for any number of workers.
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
  const AnyPair* pair = nullptr;    // the first unfinished one
  std::uint64_t pairs = 0;          // finished ones
  std::uint64_t done = 0, all = 0;  // of its sizes and blocks
};

struct ProveOptions {
  PointOptions points;
  // Sizes times blocks of a pair; larger plans are thinned out, sizes that tend to break kernels
  // last.
  std::uint64_t points_max = 20'000;
  // If nothing else proves a point: the largest number of runs to try every execution.  0: none.
  ExecutionLimits executions{};
  std::vector<cudart::Build> builds{cudart::Build::optimized, cudart::Build::unoptimized};
  unsigned jobs = 1;  // processes
  // Called at least every 200 ms.
  std::function<void(const ProveProgress&)> on_wait = {};
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct PairProof {
  const AnyPair* pair = nullptr;
  std::vector<ProvedPoint> points{};  // ascending
  std::vector<Case> failures{};       // one for each reason of failure
  std::vector<std::string> errors{};  // why nothing, or nothing more, could be run
  bool interrupted = false;

  [[nodiscard]] std::uint64_t count(Proof proof) const;
  [[nodiscard]] std::uint64_t count(Equality equality) const;
  [[nodiscard]] std::uint64_t executions() const;
  [[nodiscard]] Proof worst() const;
};

// Results in order of `pairs`; `on_proved` is called for each pair as soon as it and those before
// are done.  When *stop becomes non-zero, results until then are kept, and pairs that were not
// begun are left out.
std::vector<PairProof> prove_pairs(std::span<const AnyPair* const> pairs,
                                   const ProveOptions& options, ProofLog& log,
                                   const std::function<void(const PairProof&)>& on_proved = {},
                                   Engine& engine = virtual_gpu());

}  // namespace warpcheck
