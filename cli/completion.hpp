// Shell completion.
//
// The scripts that `warpcheck completion SHELL` prints ask the program itself, so that they offer
// the current pairs: `warpcheck __complete WORD...` prints a candidate for the last word on each
// line, and nothing if the shell should offer files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

inline constexpr std::string_view kCompleteCommand = "__complete";

// Candidates for the last of `words`, which follow the program's name; the last may be empty.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const std::vector<std::string>& pairs);

// Prints them, with the pairs of this program.  Returns the exit status.
int complete(const CLI::App& app, const std::vector<std::string>& words);

// The script for "bash", "zsh" or "fish".  Throws UsageError for another shell.
std::string completion_script(std::string_view shell, const std::string& program);

}  // namespace warpcheck
