// The opcodes of PTX instructions.
//
// opcodes.def is the one opcode table; everything that lists opcodes is generated from it.
// Whoever includes this header is compiled again when the table changes: vocabulary.hpp declares
// Opcode without its enumerators.
// Source: PTX ISA 9.0, chapter 9.
#pragma once

#include <cstdint>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::ptx {

enum class Opcode : std::uint8_t {
  invalid,
#define OPCODE(name, ...) name##_,
#include "vgpu/ptx/opcodes.def"
#undef OPCODE
  count,
};

// A value-initialised opcode is invalid.
static_assert(Opcode{} == Opcode::invalid);

}  // namespace warpcheck::ptx
