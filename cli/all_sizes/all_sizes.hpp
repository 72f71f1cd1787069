// `prove --all-sizes`: each kernel of a pair for every size, launch and datum of the domain, or a
// case that fails (docs/use/proofs.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/all_sizes/fitted_contract.hpp"
#include "harness/case/case.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck {

// The largest value of an integer for which a kernel is right.
struct ScalarLimit {
  std::string scalar;
  std::optional<std::int64_t> proved{};  // up to here; none: for no value
  bool is_whole = false;                 // it has no larger value
  std::int64_t fails_at = 0;             // if `above` is set: the smallest value that fails
  std::optional<Case> above{};           // a case that fails there
  std::string kind{}, where{}, wrap{};   // what it shows: "out-of-bounds", "scan.cu:14"
  std::string reason{};                  // why no more is known
};

struct KernelOfAllSizes {
  FittedKernel fitted;
  vgpu::symbolic::KernelProof proof;
  // Relations that the proof needs.
  std::vector<vgpu::symbolic::Condition> relations;
  std::string where{};  // "scan.cu:14", of what is not proved; empty: nowhere
  std::string wrap{};   // where an integer wraps in the case that refutes it; empty: unknown
  std::vector<ScalarLimit> limits{};  // if they were asked for
  // Why larger numbers, which the kernel is meant for, are neither proved nor refuted; empty: they
  // are, or are not meant.
  std::string beyond{};
  std::vector<std::string> left_barriers{};  // lines of KernelProof::left_barriers
  bool is_only_size = false;                 // the proof is the certificate of the only size
  bool is_less_optimized = false;            // the proof is of AllSizesOptions::less_optimized
};

struct PairOfAllSizes {
  const AnyPair* pair = nullptr;
  std::size_t inputs = 0;  // that were observed
  std::vector<KernelOfAllSizes> kernels;
  std::optional<Case> failure;  // that a run confirms
  // What a proof depends on beside the domain: "in has n + 1 elements".
  std::vector<std::string> conditions{};
  std::string obstacle;  // why nothing is known

  [[nodiscard]] bool is_proved() const;
};

// Writes the solver's questions to files of a directory: 000001.smt2 ...  An empty path: to none.
using OnQuestion = std::function<void(const std::string& question)>;
[[nodiscard]] OnQuestion question_files(const std::string& directory);

struct AllSizesOptions {
  bool limits = false;  // the largest value of each integer as well
  // Of a kernel that has one size and launch alone: every schedule and datum of it is proved.
  bool is_only_size_proved = false;
  OnQuestion on_question{};
  // PTX of the same kernel that is asked about if the shipped one is not decided; may give nothing.
  std::function<std::optional<std::string>()> less_optimized{};
};

// edits: changes of the kernels, of which the proof then is.
// Throws DomainError.
[[nodiscard]] PairOfAllSizes prove_all_sizes(const AnyPair& pair, const ptx::Edits& edits = {},
                                             const AllSizesOptions& options = {});

// "scan.cu:14", of the user's code; empty: no line is known.
[[nodiscard]] std::string place_of(const ptx::Module& module, ptx::SourceLocation at);
// Those of KernelProof::left_barriers.
[[nodiscard]] std::vector<std::string> left_barriers(const ptx::Module& module,
                                                     const vgpu::symbolic::KernelProof& proof);

// A failure, shrunk if it runs whole: a sparse one is the smallest already.
[[nodiscard]] ShrunkCase shrunk_failure(const Case& failure, TrialRunner& runner);

// Writes the cases above the limits, and prints how to replay them.  False: one was not written.
bool keep_limits(const PairOfAllSizes& proof, const std::string& directory);

// "not decided, because of scan.cu:14 (...)"; where: as place_of() gives it
[[nodiscard]] std::string not_decided(const vgpu::symbolic::KernelProof& proof,
                                      const std::string& where);

// "; if in has n + 1 elements, and ..."; empty: there are none
[[nodiscard]] std::string text_of_conditions(std::string_view before,
                                             const std::vector<std::string>& conditions);

[[nodiscard]] std::string all_sizes_text(const PairOfAllSizes& proof);
[[nodiscard]] Json all_sizes_json(const std::vector<PairOfAllSizes>& proofs);

}  // namespace warpcheck
