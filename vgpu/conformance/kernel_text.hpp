// The PTX that executes one form for every vector; the same text runs on a real GPU and here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

inline constexpr unsigned kThreadsPerBlock = 128;

// Everything that stands before the kernels of a module.
std::string module_head(int target);

// A kernel NAME(operands, results): thread i reads 8-byte cells operands[k * count + i] and
// writes results[r * count + i], where count is the number of threads of the launch.
std::string kernel_text(const ptx::InstructionForm& form, std::string_view name);

// How the text of a form names its sources.
std::string_view source_name(std::size_t index);

// Bytes of result `type` as recorded: the whole register, or a byte for a predicate.
unsigned result_bytes(std::string_view type);

}  // namespace warpcheck::conformance
