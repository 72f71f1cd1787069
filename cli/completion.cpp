#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "cli/cli.hpp"
#include "harness/pair/registry.hpp"

namespace warpcheck {
namespace {

using Words = std::vector<std::string>;

Words command_names(const CLI::App& app) {
  Words names{"--help", "--version"};
  for (const CLI::App* command : app.get_subcommands({})) {
    const bool hidden = command->get_group().empty();
    if (!hidden) names.push_back(command->get_name());
  }
  return names;
}

// "--build", "-o", "--output": all names of all options, without positional arguments.
Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// The values of a type that CLI11 describes as "TEXT:{both,optimized,unoptimized}".
Words listed_values(const std::string& type) {
  Words values;
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return values;
  std::string rest = type.substr(begin + 1, end - begin - 1) + ",";
  for (std::size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1)) {
    values.push_back(rest.substr(0, comma));
  }
  return values;
}

// The option of this name that takes a value; null: none.
const CLI::Option* option_with_value(const CLI::App& command, const std::string& name) {
  if (!name.starts_with("-")) return nullptr;
  const CLI::Option* option = command.get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

// Values of a list, "a,b,c": the text up to the last comma is kept.
Words behind_last_comma(const Words& values, const std::string& current) {
  const std::size_t comma = current.rfind(',');
  if (comma == std::string::npos) return values;
  Words behind;
  for (const std::string& value : values) behind.push_back(current.substr(0, comma + 1) + value);
  return behind;
}

Words candidates(const CLI::App& app, const Words& words, const Words& pairs) {
  if (words.size() < 2) return command_names(app);
  const auto commands = app.get_subcommands({});
  const auto named = std::ranges::find(commands, words.front(), &CLI::App::get_name);
  if (named == commands.end()) return {};
  const CLI::App* command = *named;
  if (const CLI::Option* option = option_with_value(*command, words[words.size() - 2])) {
    if (option->check_lname("pairs")) return behind_last_comma(pairs, words.back());
    return listed_values(option->get_type_name());
  }
  if (words.back().starts_with("-")) return option_names(*command);
  for (const CLI::Option* option : command->get_options()) {
    if (!option->get_positional()) continue;
    if (option->get_name(true) == "PAIR") return pairs;
    return listed_values(option->get_type_name());
  }
  return {};
}

constexpr std::string_view kBash =
    R"SHELL(# For ~/.bashrc: source <(@PROGRAM@ completion bash)
_@FUNCTION@() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _@FUNCTION@ @PROGRAM@
)SHELL";

constexpr std::string_view kZsh =
    R"SHELL(#compdef @PROGRAM@
# For ~/.zshrc, after compinit: source <(@PROGRAM@ completion zsh)
_@FUNCTION@() {
  local -a found
  found=(${(f)"$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _@FUNCTION@ @PROGRAM@
)SHELL";

constexpr std::string_view kFish =
    R"SHELL(# For ~/.config/fish/config.fish: @PROGRAM@ completion fish | source
function __@FUNCTION@_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c @PROGRAM@ -a '(__@FUNCTION@_complete)'
)SHELL";

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const std::vector<std::string>& pairs) {
  Words found = candidates(app, words, pairs);
  const std::string current = words.empty() ? "" : words.back();
  std::erase_if(found, [&](const std::string& each) { return !each.starts_with(current); });
  std::ranges::sort(found);
  return found;
}

int complete(const CLI::App& app, const std::vector<std::string>& words) {
  Words pairs;
  for (const AnyPair* pair : Registry::global().pairs()) pairs.push_back(pair->name());
  for (const std::string& each : completions(app, words, pairs)) print(each + "\n");
  return kNothingFound;
}

std::string completion_script(std::string_view shell, const std::string& program) {
  std::string function = program;
  std::ranges::replace_if(
      function, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  std::string text(shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "");
  if (text.empty()) throw UsageError(fmt::format("no completion for the shell '{}'", shell));
  const auto replace = [&](std::string_view from, const std::string& to) {
    for (std::size_t at; (at = text.find(from)) != std::string::npos;) {
      text.replace(at, from.size(), to);
    }
  };
  replace("@PROGRAM@", program);
  replace("@FUNCTION@", function);
  return text;
}

}  // namespace warpcheck
