// `--limits`: the largest value of each integer of a kernel for which it is proved, and the case
// above it that a run shows to fail.
#pragma once

#include <vector>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/all_sizes/suspect_runs.hpp"

namespace warpcheck {

class LimitSearch {
 public:
  // pair: of the kernel, for all values of its integers; it outlives the cases.
  LimitSearch(const ptx::Module& module, const KernelPair& pair,
              const std::vector<Settings>& settings, const OnQuestion& on_question,
              const std::array<bool, 3>& has_block_for_each);

  // contract: with all values of that scalar.  known: it is proved up to this value, if any.
  [[nodiscard]] ScalarLimit of(const std::string& scalar,
                               const vgpu::symbolic::KernelContract& contract,
                               std::optional<std::int64_t> known);

 private:
  struct Search;
  static std::int64_t next_asked(const Search& search);
  vgpu::symbolic::KernelProof ask(const vgpu::symbolic::KernelContract& contract,
                                  const Search& search, std::int64_t high);
  void try_to_fail(const vgpu::symbolic::Suspect& suspect, Search& search);

  const ptx::Module& module_;
  const KernelPair& pair_;
  vgpu::symbolic::ProofLimits limits_;
  SuspectRuns runs_;
};

// A fitted kernel as one without a host, for its runs; nothing: it has no such form (`why`).
[[nodiscard]] std::optional<KernelDescription> description_of(const FittedKernel& fitted,
                                                              const ptx::Module& module,
                                                              std::string& why);

// Of numbers of a kernel whose contract was observed, a case that fails and that is too large to
// run whole: numbers that the solver suspects, or 64-bit integers beyond those that the proof is
// about. If these are proved, that replaces the statement.
[[nodiscard]] std::optional<Case> failure_beyond(KernelOfAllSizes& known,
                                                 const OnQuestion& on_question);

// Of a kernel whose contract was observed.
[[nodiscard]] std::vector<ScalarLimit> limits_of(const KernelOfAllSizes& kernel,
                                                 const OnQuestion& on_question);

// Pairs that outlive the cases that refer to them.
[[nodiscard]] const KernelPair& kept_pair(KernelDescription description);

}  // namespace warpcheck
