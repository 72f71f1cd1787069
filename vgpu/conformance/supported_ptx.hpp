// Generates docs/use/supported-ptx.md from the tables.
#pragma once

#include <string>

namespace warpcheck::conformance {

// Returns the whole page, as Markdown.
std::string supported_ptx();

}  // namespace warpcheck::conformance
