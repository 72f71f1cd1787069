// Findings in the client's words.
#pragma once

#include <string>
#include <vector>

#include "cli/debug/session.hpp"

namespace warpcheck::dap {

// "data-race on shared memory share[1], 4 bytes"
[[nodiscard]] std::string finding_headline(const vgpu::Finding& finding);
// Its sides with their positions, and the message.
[[nodiscard]] std::vector<std::string> finding_lines(const debug::FoundFinding& found);
// All of it.
[[nodiscard]] std::string finding_text(const debug::FoundFinding& found);

}  // namespace warpcheck::dap
