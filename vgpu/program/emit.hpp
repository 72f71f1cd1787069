// Emits the code of one function: PTX instructions to decoded ones.  Internal to vgpu/program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Functions that the device provides: their calls become instructions.
enum class Builtin : std::uint8_t { malloc_, free_ };

// One function for one chain of call sites: every call site has a copy of its callee, so that a
// finding inside names the user's line, as for code that nvcc inlined.
struct Instance {
  const ptx::Function* function = nullptr;
  std::uint32_t called_from = ptx::kNone;          // index into Program::locations
  std::map<std::uint32_t, std::uint32_t> callees;  // position of a call in the body -> instance
  std::map<std::uint32_t, Builtin> builtins;       // position of a call in the body
};

// What is decided for the whole kernel before any code is emitted.
struct Layout {
  const ptx::Module* module = nullptr;
  std::vector<Instance> instances;  // the kernel first
  std::map<const ptx::Variable*, std::uint32_t> shared_offset;
};

// The constant bank: one row for each different value and width.
class ConstantRows {
 public:
  explicit ConstantRows(Program& program) : program_(program) {}
  Ref word(std::uint32_t value);
  Ref wide(std::uint64_t value);
  Ref predicate(bool value) { return word(value ? 0xffffffffu : 0u); }
  // The address of a module variable plus `addend`, patched when the module is loaded.
  Ref address(std::uint32_t variable, std::int64_t addend, bool is_wide);

 private:
  Ref append(std::uint64_t value, bool is_wide);

  Program& program_;
  std::map<std::pair<std::uint64_t, bool>, Ref> rows_;
  std::map<std::pair<std::uint32_t, std::pair<std::int64_t, bool>>, Ref> addresses_;
};

// "s" of "_ZZ6kernelPiE1s": the source name of a variable.
std::string demangled_variable(const std::string& name);

void emit_function(std::uint32_t instance, const Layout& layout, ConstantRows& constants,
                   Program& program);

}  // namespace warpcheck::vgpu
