// Properties of the user's terminal.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck {

// Whether lines written to this descriptor can be rewritten in place: it is a terminal, and TERM is
// not "dumb".
bool is_terminal(int descriptor);

// Returns the columns of the terminal; 80 if it does not tell them.
int terminal_columns(int descriptor);

// Whether text written to this descriptor should be coloured: it is a terminal, and NO_COLOR
// (no-color.org) is unset or empty.
bool wants_color(int descriptor);

// Colours the words of verdicts at the beginning of lines ("PASS", "FAIL", ...).
std::string colored_verdicts(std::string_view text);

}  // namespace warpcheck
