// Races by the letter in the toolkit's own headers, which cannot go wrong and which nobody who uses
// them can mend: they are notes, and say why.
//
// The list stands in known_patterns.cpp.  An entry names the kind and the space of a finding, the
// kernel, and the headers that all of its sides lie in: what happens in a user's own code is never
// excused.  Each entry has its argument, and a test.
#pragma once

#include <span>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck::vgpu {

struct KnownPattern {
  FindingKind kind = FindingKind::data_race;
  std::string_view space;
  // Part of the kernel's name; "" where the headers are called by any kernel.
  std::string_view kernel;
  std::string_view instance = "";  // so is this, behind it: which of its instances
  // What the sides do, and how the name of the innermost header of each begins, as a program
  // includes it; in either order.
  struct Side {
    std::string_view role, header;
  };
  Side first, second;
  std::string_view argument;  // "(2) comes after (1), because ..."
};

std::span<const KnownPattern> known_patterns();

// Why the finding is no error; empty: it is none of those that are known.
std::string_view known_argument(const Finding& finding);

}  // namespace warpcheck::vgpu
