// What is known of the terminal that a person looks at.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck {

// Whether lines that are written to this descriptor can be rewritten in place: it is a terminal,
// and TERM is not "dumb".
bool is_terminal(int descriptor);

// Whether what is written to this descriptor should be coloured: it is a terminal, and NO_COLOR
// (no-color.org) is not set to anything.
bool wants_color(int descriptor);

// The words of a verdict that begin lines ("PASS", "FAIL", ...) in colour.
std::string colored_verdicts(std::string_view text);

}  // namespace warpcheck
