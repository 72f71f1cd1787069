// What opcodes.def says about an opcode.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::ptx {

// The emitter that decodes an instruction: vgpu/program/emit/families.hpp.
enum class Family : std::uint8_t {
  none,
  atomic,
  barrier,
  barrier_object,
  branch,
  cache_control,
  call,
  compute,
  copy,
  end,
  fence,
  jump_table,
  launch_control,
  mapping,
  matrix,
  memory,
  move,
  multimem,
  nothing,
  rank,
  sleep,
  space_test,
  stack,
  tensor_memory,
  texture,
  video,
  warp,
  warpgroup,
};

// How undefined bits of the sources propagate to the result: see opcodes.def.
enum class UndefinedRule : std::uint8_t {
  whole,
  moves,
  moves_a,
  moves_ab,
  logic,
  sum,
  product,
  comparison,
};

// The files with functions of compute instructions, in the order in which they are searched.
enum class FunctionFile : std::uint8_t {
  carry,  // before the files that ignore .cc
  integer,
  bits,
  compare,
  move,
  float_,
  half,
  approximate,
  convert,
  exact,  // after the faster files
  half_approximate,
  half_compare,
  packed,
  video,
  count,
};
std::string_view name_of(FunctionFile file);  // "float"

// The opcode's row: see opcodes.def.
struct OpcodeRow {
  std::string_view name;
  Family family = Family::none;
  std::uint16_t functions = 0;  // one bit for each FunctionFile
  UndefinedRule undefined = UndefinedRule::whole;
  std::string_view operands, modifiers;
};
const OpcodeRow& row_of(Opcode opcode);     // invalid and count: a row of empty texts
Opcode find_opcode(std::string_view name);  // invalid if the table has no such row

}  // namespace warpcheck::ptx
