// Changes of device code that might remove findings: what a programmer would try, as edits of the
// program that the machine runs.  A change is only a guess; find_causes.hpp tries it.
#pragma once

#include <string>
#include <vector>

#include "harness/causes/code_places.hpp"
#include "harness/causes/remedies.hpp"
#include "vgpu/cudart/device/suppositions.hpp"

namespace warpcheck {

struct Change {
  ptx::Edits edits;  // none: of host code
  std::string text;  // "__syncthreads() before scan.cu:14"
  // Index of the finding for which it was made; kNoFinding: for a wrong result.
  std::size_t finding = kNoFinding;
  cudart::Suppositions supposed{};
  bool is_of_values = false;  // helps only if the results are right with it
  // Makes a race one of atomic operations, which is silent.  It helps only if the results do not
  // depend on who comes first: a counter must not be set to zero beside those that add.
  bool is_of_access = false;
  std::string order{};  // what it inserts, "__syncthreads()": the text before the places
  // Of the same number: the same order at different places, of which several may be needed, and
  // none helps if all of them together do not.  0: alone.
  std::size_t family = 0;
  static constexpr std::size_t kNoFinding = static_cast<std::size_t>(-1);
};

// For the findings of severity error, the changes that are preferred first, each once.
//   results_are_known: a change of values would show as a wrong result
[[nodiscard]] std::vector<Change> changes_for(const std::vector<vgpu::Finding>& findings,
                                              const std::vector<LaunchedKernel>& kernels,
                                              bool results_are_known);

// --- by what they change ------------------------------------------------------------------------

// A statement more around the sites: a barrier, a wait.
[[nodiscard]] std::vector<Change> inserted_orders(Remedy remedy,
                                                  const std::vector<CodeSite>& sites);
// Wider scopes of fences and atomics.
[[nodiscard]] std::vector<Change> scope_changes(const std::vector<LaunchedKernel>& kernels,
                                                bool of_system);
// Masks of all lanes for the warp's operations in the functions of the sites.
[[nodiscard]] std::vector<Change> mask_changes(const std::vector<CodeSite>& sites);
// Fences around the accesses by which threads communicate, alone and in pairs.
[[nodiscard]] std::vector<Change> fence_changes(const std::vector<LaunchedKernel>& kernels,
                                                Remedy fence);
// A barrier within a statement that some threads leave out: the read is executed before it by those
// that do not, then all come to the barrier.
[[nodiscard]] std::vector<Change> split_changes(const std::vector<CodeSite>& sites);
// An update by an atomic operation.
[[nodiscard]] std::vector<Change> atomic_updates(const std::vector<CodeSite>& sites);
// Reads and writes that are atomic, where the other side is.
[[nodiscard]] std::vector<Change> atomic_accesses(const std::vector<CodeSite>& sites,
                                                  bool of_system);
// Comparisons shifted by one, and threads beyond an argument that leave the kernel at once.
[[nodiscard]] std::vector<Change> bound_changes(const std::vector<CodeSite>& sites);
// Shared variables that are zero when the kernel begins.
[[nodiscard]] std::vector<Change> value_changes(const vgpu::Finding& finding,
                                                const std::vector<CodeSite>& sites);
// What host code would do: an order of streams, a wait, a later free, a fill of fresh memory.
[[nodiscard]] std::vector<Change> host_changes(const vgpu::Finding& finding,
                                               const std::vector<LaunchedKernel>& kernels,
                                               bool results_are_known);
// Barriers that are left out, or stand elsewhere.
[[nodiscard]] std::vector<Change> barrier_moves(const std::vector<CodeSite>& sites);

}  // namespace warpcheck
