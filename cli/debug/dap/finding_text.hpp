// Findings in the client's words.
#pragma once

#include <string>
#include <vector>

#include "cli/debug/session.hpp"

namespace warpcheck::dap {

// Its sides with their positions, and the message.
[[nodiscard]] std::vector<std::string> finding_lines(const debug::FoundFinding& found);
// All of it.
[[nodiscard]] std::string finding_text(const debug::FoundFinding& found);

}  // namespace warpcheck::dap
