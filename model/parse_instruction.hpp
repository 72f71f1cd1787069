// The instructions of one thread of a litmus test.
#pragma once

#include <vector>

#include "model/lexer.hpp"
#include "model/litmus_test.hpp"
#include "model/symbols.hpp"

namespace warpcheck::model {

// What stands between two bars; the last token is the end, with the place behind it.
using CodeCell = std::vector<Token>;

// Throws LitmusError; an instruction or a qualifier that is not known is named.
void parse_code(const std::vector<CodeCell>& cells, Symbols& symbols, Thread& thread);

}  // namespace warpcheck::model
