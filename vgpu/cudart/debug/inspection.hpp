// Answers a debugger's questions about the state of a launch, as JSON.  The questions change
// nothing.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vgpu/cudart/debug/program_lines.hpp"
#include "vgpu/cudart/debug/thread_state.hpp"

namespace warpcheck::cudart {

// Each answers a question with its fields and throws NotThere if it has no answer.
//   frames {block, thread}: [{function, pc, local_base}]
//   registers {block, thread, frame}: [{name, type, bytes, bits, undefined}]
//   memory {space, offset, bytes, block, thread}: {bytes, defined, short}
//   resolve {address, block, thread}: {space, offset}
//   symbol {name, block, thread, frame}: {space, offset, bytes}
//   blocks {}: [{block, phase, warps: [{warp, lanes, exited, fragments}]}]
nlohmann::json answer(const nlohmann::json& question, const ThreadStates& states);

// All of a program that does not change: its instructions with their source lines.
nlohmann::json describe_program(const vgpu::Program& program, const ProgramLines& lines);

std::string hex_of(const std::byte* bytes, std::size_t count);

}  // namespace warpcheck::cudart
