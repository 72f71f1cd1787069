// Known findings in the toolkit's own headers.  They are findings by the letter, but they cannot
// cause a wrong result, and a user of the headers cannot change them.  The reporter makes them
// notes and adds the reason.
//
// The list of races is in known_patterns.cpp.  An entry names the kind and the space of a finding,
// the kernel, and the headers in which both of its sides lie, so an access in the user's own code
// never matches.  Each entry has its argument and a test.
//
// One rule covers values that nothing has written and on which operators branch, in kernels of CUB
// and thrust that discard what the operator returns.
#pragma once

#include <span>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck::vgpu {

struct KnownPattern {
  FindingKind kind = FindingKind::data_race;
  std::string_view space;
  // A part of the kernel's name; "" if any kernel may call the headers.
  std::string_view kernel;
  std::string_view instance{};  // a later part of the name, which selects instances of it
  // What a side does, and the beginning of the name of its innermost header as a program includes
  // it.  The two sides may match in either order.
  struct Side {
    std::string_view role, header;
  };
  Side first, second;
  std::string_view argument;  // "(2) comes after (1), because ..."
  // The threads for which the argument holds.  In a selection in place, any other write is the
  // caller's defect: its output overlaps its input.
  enum class Writer : std::uint8_t {
    any,
    later_block,  // than the one that reads
    // The last lane of a warp of the block before the one that reads: it may have the last item of
    // its tile.  Outputs that are shifted come from other lanes, too.
    tile_before,
  };
  Writer writer = Writer::any;
};

std::span<const KnownPattern> known_patterns();

// Returns whether a pattern matches, and its argument depends on which threads the sides are.
bool known_pattern_of_threads(const Finding& finding);

// Returns why the finding is no error; empty if no known pattern matches.
std::string_view known_argument(const Finding& finding);

}  // namespace warpcheck::vgpu
