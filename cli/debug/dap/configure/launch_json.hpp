// VS Code's launch.json: adding configurations without losing what its user wrote, comments and
// layout included.  So the text is edited, and not a document that was read from it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/input/json_values.hpp"

namespace warpcheck::dap {

// The text is no launch.json.  what() says what was expected and where.
class LaunchJsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns a launch.json with these configurations, a list.
[[nodiscard]] std::string new_launch_json(const Json& configurations);

// Returns the text with those of the configurations whose names it does not have yet, as the first
// ones; nothing: it has all names.  Throws LaunchJsonError.
[[nodiscard]] std::optional<std::string> with_configurations(std::string_view text,
                                                             const Json& configurations);

}  // namespace warpcheck::dap
