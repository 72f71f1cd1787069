// The manual page, generated from the same descriptions as `--help`.
//
// `warpcheck __manual` prints it in the macros of man(7), and the build installs it.  A project
// that links warpcheck gets a page of its own program in the same way.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace warpcheck {

inline constexpr std::string_view kManualCommand = "__manual";

// One section for each command that is not hidden: synopsis, options, and its footer.
//
// Footers are paragraphs.  A line indented by two is an example; a paragraph "Exit status: ..." or
// "Environment: ..." of the program's own footer becomes a separate section.
std::string manual_page(const CLI::App& app, std::string_view program, std::string_view version);

}  // namespace warpcheck
