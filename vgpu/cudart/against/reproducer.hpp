// The PTX of a kernel in a form that can be shrunk, and in one that leaves an assembler no freedom.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::cudart {

// Returns the text with `.rn` in every addition, subtraction and multiplication of floating-point
// numbers that names no rounding.  Only those may be contracted to a fused multiply-add
// (PTX ISA 9.7.3, `add`: "an add instruction with no rounding modifier ... may be optimized
// aggressively").
[[nodiscard]] std::string without_contraction(std::string_view ptx);

// Returns the text without debug information and without other kernels, its instructions marked for
// ptx::shrink(): each alone, and all halves of a function's body.
[[nodiscard]] std::string marked_for_shrinking(std::string_view ptx, std::string_view kernel);

// Returns the texts in which one instruction has become a copy of one of its operands, so that what
// computes the others is needed no more.
[[nodiscard]] std::vector<std::string> with_copies(std::string_view ptx);

// Returns the text without the marks of ptx::shrink().
[[nodiscard]] std::string without_marks(std::string_view ptx);

}  // namespace warpcheck::cudart
