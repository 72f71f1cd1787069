// warpcheck completion: the script that lets a shell complete commands, options and pairs.
#include <memory>

#include "cli/cli.hpp"
#include "cli/completion.hpp"
#include "harness/pair/project.hpp"

namespace warpcheck {

namespace {

void add_completion_to(CLI::App& command, Run& run) {
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "Shell to complete for")
      ->required()
      ->check(CLI::IsMember({"bash", "fish", "zsh"}));
  command.footer(
      "Completes commands, options, their values, and the names of pairs.\n"
      "\n"
      "Examples:\n"
      "  source <(warpcheck completion bash)       for this shell; in ~/.bashrc for every one\n"
      "  warpcheck completion fish | source\n"
      "\n"
      "Exit status: 0 printed, 2 bad usage.");
  command.callback([&run, shell] {
    run = [shell] {
      print(completion_script(*shell, project().program));
      return kNothingFound;
    };
  });
}

const RegisteredCommand kCompletionCommand{{.rank = 130,
                                            .name = "completion",
                                            .help = "Print a shell's completion script",
                                            .add = add_completion_to}};

}  // namespace
}  // namespace warpcheck
