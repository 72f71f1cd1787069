// A program as the machine runs it, as data: basic blocks in reconvergence order, instructions with
// their source lines, and what is known of them before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct Listing {
  struct Instruction {
    std::uint32_t pc = 0;
    std::string text;  // as InstrText::of()
    std::string file;  // as nvcc recorded it; empty: not known
    std::uint32_t line = 0;
    std::uint32_t ptx_line = 0;
    // What an access touches: "shared: share", "global: parameter 0", "local: the thread's frame";
    // empty: the instruction is no access.
    std::string touches;
    std::vector<std::string> notes;  // what else is known
  };
  struct Block {
    std::uint32_t number = 0;
    std::vector<std::uint32_t> successors;  // numbers; through calls and returns as well
    bool ends = false;                      // threads may leave the kernel at its end
    // Of a block at whose end lanes of a warp may part: the block at which they can be together
    // again first, because the lanes at the lowest pc run first.  Nothing: one side leaves.
    std::optional<std::uint32_t> meets;
    std::vector<Instruction> code;
  };
  struct Function {
    std::string name;  // mangled
    std::vector<Block> blocks;
  };
  std::string kernel;  // mangled
  std::vector<Parameter> parameters;
  std::vector<Symbol> shared;
  std::uint32_t local_bytes = 0;    // per thread, of all calls together
  std::vector<std::string> proved;  // sentences about the whole kernel
  std::vector<Function> functions;  // the kernel first; a called function once for each call site
};

// The program must be linked.
[[nodiscard]] Listing list_program(const Program& program);

}  // namespace warpcheck::vgpu
