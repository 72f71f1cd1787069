// The text of a PTX litmus test, in the format of the herd family of tools (docs/use/litmus.md).
#pragma once

#include <string_view>

#include "model/litmus_test.hpp"

namespace warpcheck::model {

// Throws LitmusError with the place of the error.
Test parse_test(std::string_view text);

}  // namespace warpcheck::model
