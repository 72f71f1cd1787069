// The layout of a whole kernel, which is determined before the code of its functions is emitted.
// Internal to vgpu/program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// A function that the device provides; calls of it become instructions.
struct Builtin {
  std::string_view name;
  InstrKind kind;
  std::uint32_t result_bytes;  // 0: no result
  std::vector<std::uint32_t> argument_bytes;
  DeviceFunction function{};       // for a device_call
  std::uint32_t stored_bytes = 0;  // bytes stored at its first argument
};
const Builtin* find_builtin(std::string_view name);  // nullptr: there is none

// The sizes in bytes of a function's results and parameters, which a call through a register must
// match.
struct Signature {
  std::vector<std::uint64_t> results, parameters;
  friend auto operator<=>(const Signature&, const Signature&) = default;
};

// One function for one chain of call sites.  Every call site has its own copy of the callee, so
// that a finding inside the callee names the user's line, as for code that nvcc inlined.  Recursive
// calls lead back to the copy that they come from.  Functions that are called through registers,
// and functions beyond a maximal number of copies, have one instance for all their callers.
struct Instance {
  const ptx::Function* function = nullptr;
  std::uint32_t parent = ptx::kNone;       // the calling instance; kNone: several, or none
  std::uint32_t called_from = ptx::kNone;  // index into Program::locations
  // It, or one of its callers, is called through registers, so it is not known whether it is
  // called.
  bool by_address = false;
  std::map<std::uint32_t, std::uint32_t> callees;    // position of a call in the body -> instance
  std::map<std::uint32_t, const Builtin*> builtins;  // position of a call in the body
};

// The layout of the whole kernel.
struct Layout {
  const ptx::Module* module = nullptr;
  std::vector<Instance> instances;  // the kernel first
  std::map<Signature, std::uint32_t> signatures;
  std::map<const ptx::Variable*, std::uint32_t> shared_offset;
  // Index into Program::shared_symbols; all extern arrays share one symbol.
  std::map<const ptx::Variable*, std::uint32_t> shared_symbol;
  std::uint64_t variadic_bytes = 0;  // of the largest list of variadic arguments
  // Addresses of shared memory contain the rank of their block (shared_windows.hpp); false: nothing
  // in the program can find another block's memory.
  bool has_ranks = false;

  std::uint32_t number_of(const Signature& signature) {
    return signatures.try_emplace(signature, signatures.size()).first->second;
  }
};

// The shape of a call through a register: its prototype, or that of its first target.  Throws
// Refusal if there is neither.
struct CallShape {
  const std::vector<ptx::Variable>& results;
  const std::vector<ptx::Variable>& parameters;
};
CallShape shape_of(const ptx::Module& module, const ptx::Function& caller,
                   const ptx::Instruction& call);
Signature signature_of(const CallShape& shape);

// Finds every function that the kernel can reach.  Throws Refusal.
void find_reached(const ptx::Module& module, std::string_view kernel, Program& program,
                  Layout& layout);

// Returns "s" for "_ZZ6kernelPiE1s": the source name of a variable.
std::string demangled_variable(const std::string& name);

class ConstantRows;

// Sets Program::roots and Program::provenances, and the provenance of each access.
void find_provenance(const Layout& layout, const ConstantRows& constants, Program& program);

// Emits the code of one function: decodes its PTX instructions.
void emit_function(std::uint32_t instance, Layout& layout, ConstantRows& constants,
                   Program& program);

}  // namespace warpcheck::vgpu
