// What might remove a finding, by what it says is missing: the kinds of change that a programmer
// would try, preferred ones first.  Experiments make them in the PTX that runs (changes.hpp), `fix`
// in the source; what both insert stands here in both languages.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

enum class Remedy : std::uint8_t {
  // statements that order threads
  warp_barrier,
  block_barrier,
  cluster_barrier,
  fence,
  fence_of_block,
  fence_of_system,
  copy_wait,
  copy_wait_and_barrier,
  proxy_fence,
  grid_wait,
  grid_barrier,  // its PTX is a function of the toolkit: experiments leave it to `fix`
  // other changes of statements
  phase_wait,        // until the phase of an mbarrier is complete
  wider_scope,       // of fences and atomics
  wider_mask,        // of an operation of the warp
  split,             // a barrier between the read and the write of a statement
  atomic_update,     // x += y
  atomic_access,     // where the other side is atomic
  bound,             // of an index
  first_value,       // of a variable
  barrier_elsewhere  // or nowhere
};

struct InsertedText {
  std::string_view ptx;     // statements
  std::string_view source;  // statements of CUDA C++
  std::string_view words;   // "__syncthreads()"
};
// Of a remedy that is a statement more.
[[nodiscard]] const InsertedText& inserted_text(Remedy remedy);

struct RemedyFacts {
  bool results_are_known = false;  // a changed value that is wrong would show
  // In a block of one warp nothing shows whether a barrier of the warp would be enough, as the
  // shrunk case of a larger one has such a block.
  bool one_warp = false;
  bool races_between_warps = false;  // another finding races for the finding's variable so
  bool races = false;                // there is a race for the finding's variable
};

// For a finding of severity error, or the worst of a wrong result.
[[nodiscard]] std::vector<Remedy> remedies_for(const vgpu::Finding& finding,
                                               const RemedyFacts& facts);

// Whether threads of other devices or the host take part.
[[nodiscard]] bool is_of_system(const vgpu::Finding& finding);

}  // namespace warpcheck
