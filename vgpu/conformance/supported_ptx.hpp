// docs/supported-ptx.md, written from the tables.
#pragma once

#include <string>

namespace warpcheck::conformance {

// The whole page, as Markdown.
std::string supported_ptx();

}  // namespace warpcheck::conformance
