// `prove --all-sizes`: each kernel of a pair for every size, launch and datum of the domain, or a
// case that fails (docs/use/proofs.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/all_sizes/fitted_contract.hpp"
#include "harness/case/case.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck {

struct KernelOfAllSizes {
  FittedKernel fitted;
  vgpu::symbolic::KernelProof proof;
  // Relations that the proof needs.
  std::vector<vgpu::symbolic::Condition> relations;
  std::string where;  // "scan.cu:14", of what is not proved; empty: nowhere
};

struct PairOfAllSizes {
  const AnyPair* pair = nullptr;
  std::size_t inputs = 0;  // that were observed
  std::vector<KernelOfAllSizes> kernels;
  std::optional<Case> failure;  // that a run confirms
  std::string obstacle;         // why nothing is known

  [[nodiscard]] bool is_proved() const;
};

// Writes the solver's questions to files of a directory: 000001.smt2 ...  An empty path: to none.
using OnQuestion = std::function<void(const std::string& question)>;
[[nodiscard]] OnQuestion question_files(const std::string& directory);

// edits: changes of the kernels, of which the proof then is.
// Throws DomainError.
[[nodiscard]] PairOfAllSizes prove_all_sizes(const AnyPair& pair, const ptx::Edits& edits = {},
                                             const OnQuestion& on_question = {});

// "scan.cu:14", of what is not proved; empty: no line is known.
[[nodiscard]] std::string place_of(const ptx::Module& module,
                                   const vgpu::symbolic::KernelProof& proof);

[[nodiscard]] std::string all_sizes_text(const PairOfAllSizes& proof);
[[nodiscard]] Json all_sizes_json(const std::vector<PairOfAllSizes>& proofs);

}  // namespace warpcheck
