// The kernels of kernels/fast, each without one of its barriers, fences or strong accesses:
// planted, from the same text.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fast {

// Puts out what the kernel makes of the n words at `in`, of which it takes as many as it has a use
// for: at most mutant_out_words(n) words, 0 where the kernel has no more to say.  `scratch` has
// mutant_scratch_bytes(n) bytes, aligned to 16 and of any contents.
using MutantKernel = cudaError_t (*)(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n,
                                     void* scratch);

struct Mutant {
  const char* kernel;
  const char* missing;     // the enumerator of the order that it lacks
  MutantKernel run;        // without it
  MutantKernel unchanged;  // with it
};

std::vector<Mutant> fast_mutants();
std::size_t mutant_out_words(std::uint64_t n);
std::size_t mutant_scratch_bytes(std::uint64_t n);

}  // namespace fast
