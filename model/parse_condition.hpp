// The condition of a litmus test, its filter, and the list of locations to show.
#pragma once

#include "model/litmus_test.hpp"
#include "model/symbols.hpp"
#include "model/token_reader.hpp"

namespace warpcheck::model {

// From the end of the program to the end of the file.  Throws LitmusError.
void parse_conditions(TokenReader& reader, Symbols& symbols, Test& test);

// Whether the next token can begin a condition, which ends the program.
bool begins_conditions(const TokenReader& reader);

// "P1" or "1" of a thread; -1: no name of a thread.
int thread_number(const Token& token);
// Its index in test.threads.  Throws LitmusError.
unsigned thread_named(const Token& token, const Test& test);

}  // namespace warpcheck::model
