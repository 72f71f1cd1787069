// The instructions of one thread of a litmus test.
#pragma once

#include <vector>

#include "model/lexer.hpp"
#include "model/litmus_test.hpp"
#include "model/symbols.hpp"

namespace warpcheck::model {

// The tokens between two bars; the last token is the end, with the place after them.
using CodeCell = std::vector<Token>;

// Throws LitmusError, which names an unknown instruction or qualifier.
void parse_code(const std::vector<CodeCell>& cells, Symbols& symbols, Thread& thread);

}  // namespace warpcheck::model
