// The PTX that executes one form for every vector; the same text runs on a real GPU and on the
// virtual GPU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

inline constexpr unsigned kThreadsPerBlock = 128;

// Returns everything before the kernels of a module.
std::string module_head(int target);

// Returns a kernel NAME(operands, results): thread i reads 8-byte cells operands[k * count + i] and
// writes results[r * count + i], where count is the number of threads of the launch.
std::string kernel_text(const ptx::InstructionForm& form, std::string_view name);

// Returns the name of a source in the text of a form.
std::string_view source_name(std::size_t index);

// Returns the bytes of a recorded result of type `type`: the whole register, or one byte for a
// predicate.
unsigned result_bytes(std::string_view type);

}  // namespace warpcheck::conformance
