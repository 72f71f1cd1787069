// What GPUVerify adds to CUDA: annotations in the code, which other compilers do not know.
//
// __requires() and launches are read from the text (contracts.hpp).  A requirement, assertion or
// invariant that the thread itself can compute is also compiled where it stands: a thread ends
// where a requirement is false, and an assertion that is false is a finding.  A claim about other
// threads, or about what has been accessed, has a type of its own, which spreads over the condition
// that it is part of: such a condition is not checked, and contracts_of() names it.
//
// Its kernels are older than independent lanes and texture objects: a shuffle or vote without a
// mask is one of the lanes that are there, and a fetch of a texture reference gives any value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// The header for a source, to be included before it; nothing: the source needs none.
[[nodiscard]] std::string gpuverify_header(std::string_view source);

// Whether there are shuffles or votes without a mask.  Their names are those of functions in the
// toolkit's headers, too, so only files that have them get them as macros.
[[nodiscard]] bool has_operations_without_masks(std::string_view source);

// Whether an annotation reads memory, or converts a claim to a number: then those of its kind are
// not computed, because a read of an annotation is none of the program.
[[nodiscard]] bool has_invariants_to_compute(std::string_view source);
[[nodiscard]] bool has_requirements_to_compute(std::string_view source);

// Annotations that claim something about other threads, accesses or earlier values.
[[nodiscard]] std::span<const std::string_view> names_of_claims();
// Annotations that help that tool's proofs, and say nothing about an execution.
[[nodiscard]] const std::vector<std::string>& names_of_aids();

}  // namespace warpcheck
