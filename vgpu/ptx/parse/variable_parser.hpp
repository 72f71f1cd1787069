// Declarations of variables: `.align 8 .b8 name[2][3] = {...}` (PTX ISA 9.0, 5.4).
#pragma once

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Returns the type that a directive such as `.u32` names; Type::none if it is not a type.
Type find_type(std::string_view directive);

// Returns the space that a directive such as `.global` names; Space::generic if it is not one.
Space find_space(std::string_view directive);

struct Declaration {
  Variable variable;
  std::string_view name;  // in the text
  std::uint32_t line;
};

// Parses what follows the state space: alignment, type, name, dimensions and initialiser.
Declaration parse_variable(Context& context, Space space);
// Parses a statement that may declare several variables: `.u32 a, b = 1;`
std::vector<Declaration> parse_variables(Context& context, Space space);

// Returns a power of two.
std::uint32_t parse_alignment(Lexer& lexer);

}  // namespace warpcheck::ptx
