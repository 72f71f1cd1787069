// Groups findings that have one cause, so that a report can show the first finding of a group and
// list the others under it.
//
// One missing barrier causes a finding at every pair of lines on its two sides.  One array that all
// blocks share by mistake causes a finding at every line that uses it.  Two findings have one cause
// when they have the same kind and severity and one of these holds:
//
//   - They name the same earlier error (Finding::cause).
//   - They are races of one kernel on one variable, between threads equally far apart, with the
//     same Lack, and
//       - the Lack is a barrier, and one common line lies between (or at) the sides of each of
//         them, so that a barrier at this line could order all of them; or
//       - the Lack is an atomic update, and the races have the same lines; or
//       - the Lack is anything else.
//   - They use the result of one shuffle from a lane that did not take part, or unwritten bytes of
//     one variable of one kernel.
//
// No other findings are grouped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck::vgpu {

// Returns, for each finding in order, the index of the first finding with the same cause: its own
// index if no earlier finding has the same cause.
std::vector<std::size_t> group_by_cause(std::span<const Finding> findings);
// Returns the same groups as lists of indices.  Indices ascend within a group; groups are ordered
// by their first index.
std::vector<std::vector<std::size_t>> groups_of_one_cause(std::span<const Finding> findings);

// Returns "data-race on shared memory share[1], 4 bytes".
std::string headline_of(const Finding& finding);
// Returns "write a.cu:12 and read a.cu:14".
std::string places_text(const Finding& finding);
// Returns "called at tile.hpp:7, gemm.cu:29; also at gemm.cu:31": how a side is reached; empty: its
// line is in no function that is called, or the calls are not known.
std::string callers_text(const AccessSide& side);
// Returns "also between warps of a block and between lanes of a warp"; empty if the finding has no
// further relations.
std::string also_text(const Finding& finding);

}  // namespace warpcheck::vgpu
