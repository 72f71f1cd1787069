// What the code of a kernel, and of the functions that it calls, asks for: the extents of its
// threads and blocks, variables of its module.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/kernel/kernel_description.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck {

// The kernel, and every function that it may call.  Of a call through a register these are all
// functions of the module.
[[nodiscard]] std::vector<const ptx::Function*> reachable_functions(const ptx::Module& module,
                                                                    const std::string& kernel);

// How many extents the user's code asks for.  Libraries do not count: the rank of a thread in its
// block is computed from all three, whatever the kernel is made for.
struct Dimensions {
  int grid = 0, block = 0;
};
[[nodiscard]] Dimensions dimensions_of(const ptx::Module& module, const std::string& kernel);

// By axis, whether the number of a block is the number of an item (a row, an image): the code never
// multiplies it by the block's extent, so it is no part of a thread's number.
//   block: extents, as far as they are known; else 0
[[nodiscard]] std::array<bool, 3> blocks_are_items(const ptx::Module& module,
                                                   const std::string& kernel,
                                                   const std::array<std::int64_t, 3>& block);

// By axis, the smallest constant of 8 to 1024 by which the code multiplies the number of a block;
// 0: there is none, or it multiplies by the block's extent, too.
[[nodiscard]] std::array<std::int64_t, 3> constants_of_blocks(const ptx::Module& module,
                                                              const std::string& kernel);

// Whether a kernel divides by the parameter there.  What functions do that are not inlined is not
// seen.
[[nodiscard]] bool divides_by(const ptx::Module& module, const std::string& kernel,
                              const ParameterPlace& place);

// Whether a kernel multiplies by one more than the parameter there, as by the pitch of a table with
// a border: `row * (n + 1) + column`.
[[nodiscard]] bool multiplies_by_one_more(const ptx::Module& module, const std::string& kernel,
                                          const ParameterPlace& place);

// Whether what the array of that pointer holds goes into the address of a store, by itself or in a
// sum or product.  What it only decides, by a branch or as the condition of a choice, does not
// count, nor does the result of an atomic operation at a place that it names.
[[nodiscard]] bool elements_are_indices_of_stores(const ptx::Module& module,
                                                  const std::string& kernel,
                                                  const ParameterPlace& place);

// Whether a kernel uses what atomic operations find.
[[nodiscard]] bool has_atomic_results(const ptx::Module& module, const std::string& kernel);

// Whether a thread uses what its atomic operation on a parameter's array finds, as the number of a
// block that takes it from a counter.
[[nodiscard]] bool has_global_tickets(const ptx::Module& module, const std::string& kernel);

// Bytes of the shared variables of a kernel and of the module.
[[nodiscard]] std::uint64_t shared_bytes_of(const ptx::Module& module, const std::string& kernel);

// Whether the kernel names a __constant__ variable that has no initial value.
[[nodiscard]] bool uses_unset_constants(const ptx::Module& module, const std::string& kernel);

// PTX in which assertions do nothing.  A false one ends the launch, and what the threads would
// access is not seen: arrays would be too short for those that are scheduled earlier in another
// run.
[[nodiscard]] std::string without_assertions(std::string ptx);

}  // namespace warpcheck
