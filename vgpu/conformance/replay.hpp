// Runs the recorded forms on the virtual GPU and lists where it differs from the real one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/conformance/recording.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/forms.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::conformance {

// Returns the results of one form on the virtual GPU, in the order of Recorded::values.  Throws
// Refusal if the virtual GPU does not support the form.
std::vector<std::uint64_t> execute(const ptx::InstructionForm& form,
                                   vgpu::Compile compile = vgpu::Compile::when_it_pays);
// Does the same with a kernel of a module; `form` describes the kernel's operands and results.
std::vector<std::uint64_t> execute_kernel(const ptx::Module& module,
                                          const ptx::InstructionForm& form, const std::string& name,
                                          vgpu::Compile compile = vgpu::Compile::when_it_pays);

// The result of comparing one form.
struct Comparison {
  std::string text;     // of the form
  std::string refusal;  // why the virtual GPU does not support it; empty: it does
  std::size_t vectors = 0;
  std::size_t differences = 0;
  std::string first;  // operands and both results at the first difference
};

// Compares what the interpreter calculates, and then what machine code does.
Comparison compare(const ptx::InstructionForm& form, const Recorded& recorded);
// Compares results that were already calculated; they may differ by `ulps` units in the last place.
Comparison compare(const ptx::InstructionForm& form, const Recorded& recorded,
                   const std::vector<std::uint64_t>& got, unsigned ulps = 0);

}  // namespace warpcheck::conformance
