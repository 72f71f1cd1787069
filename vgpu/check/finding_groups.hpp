// Findings that have one cause, so that a report can show the first and list the others under it.
//
// One missing barrier is met at every pair of lines on its two sides, one array that all blocks
// share at every line that uses it.  Two findings have one cause when they are of the same kind and
// severity and
//
//   - name the same earlier mishap (Finding::cause); or
//   - are races of one kernel on one variable, between threads equally far apart, that lack the
//     same thing, and
//       - that is a barrier: one line lies between the sides, or at one, of all of them, so that
//         a barrier there may order all;
//       - that is an atomic update: they are of the same lines;
//       - else: nothing more; or
//   - use what one shuffle took from a lane that gave nothing, or what one variable of one kernel
//     holds that nothing has written.
//
// Whatever else two findings have in common, they are not grouped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck::vgpu {

// Of each finding, in order, the index of the first one with its cause; its own if there is none
// before it.
std::vector<std::size_t> group_by_cause(std::span<const Finding> findings);
// The same as lists: the indices of each group in order, the groups in the order of their first.
std::vector<std::vector<std::size_t>> groups_of_one_cause(std::span<const Finding> findings);

// "write a.cu:12 and read a.cu:14"
std::string places_text(const Finding& finding);
// "also between warps of a block and between lanes of a warp"; empty: there is nothing to say.
std::string also_text(const Finding& finding);

}  // namespace warpcheck::vgpu
