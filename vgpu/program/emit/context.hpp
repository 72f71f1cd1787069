// The function whose code is being emitted, and the refusal of its unsupported instructions.
#pragma once

#include <string>

#include "vgpu/program/layout.hpp"

namespace warpcheck::vgpu {

struct FunctionContext {
  const Instance& instance;
  const ptx::Function& function;
  const Layout& layout;
  const Program& program;

  // Throws Refusal, with the instruction, its lines and the reason.
  [[noreturn]] void refuse(const ptx::Instruction& in, const std::string& why) const;
  [[nodiscard]] const ptx::Variable& variable(const ptx::VariableRef& ref) const;
  // Returns the position of an instruction of the function's text.
  [[nodiscard]] std::uint32_t position_of(const ptx::Instruction& in) const {
    return static_cast<std::uint32_t>(&in - function.body.data());
  }
};

}  // namespace warpcheck::vgpu
