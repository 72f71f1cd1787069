// warpcheck debug: runs a case or a program under the debugger.
#include <fmt/format.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "cli/cli.hpp"
#include "cli/debug/dap/editor_options.hpp"
#include "cli/debug/line_input.hpp"
#include "cli/debug/prompt.hpp"
#include "cli/debug/session.hpp"

namespace warpcheck {
namespace {

struct DebugArguments {
  std::string input;
  std::vector<std::string> program;
  std::string build, strategy = "default";
  std::uint64_t seed = 1;
  dap::EditorOptions editor;
};

// The session that Ctrl-C pauses.
debug::DebugSession* paused_by_interrupt = nullptr;

void pause_on_interrupt(int) {
  if (paused_by_interrupt != nullptr) paused_by_interrupt->pause();
}

int run_debug(const DebugArguments& arguments) {
  debug::Target target{.case_file = arguments.input,
                       .program = arguments.program,
                       .build = arguments.build,
                       .strategy = arguments.strategy,
                       .seed = arguments.seed,
                       .output = {}};
  if (arguments.editor.are_given()) return arguments.editor.run(target);
  if (target.case_file.empty() && target.program.empty()) {
    throw UsageError("expected a case file; or, after --, a program and its arguments");
  }
  try {
    const std::unique_ptr<debug::DebugSession> session = debug::DebugSession::start(target);
    paused_by_interrupt = session.get();
    std::signal(SIGINT, pause_on_interrupt);
    const auto write = [](std::string_view text) { std::cout << text << std::flush; };
    debug::Prompt prompt(*session, write);
    session->add_breakpoint({.kind = debug::Breakpoint::Kind::finding});
    prompt.show_stop();
    debug::LineInput input;
    for (std::string line; input.read(line) && prompt.execute(line);) {
    }
    std::signal(SIGINT, SIG_DFL);
    paused_by_interrupt = nullptr;
  } catch (const debug::DebugError& error) {
    throw UsageError(error.what());
  }
  return kNothingFound;
}

void add_debug_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<DebugArguments>();
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("CASE", *words, "A case file; or, after --, a program and its arguments")
      ->expected(1, -1)
      ->type_name("CASE|PROGRAM ARG...");
  command
      .add_option("--build", arguments->build, "Build of a case's kernels (default: the case's)")
      ->check(CLI::IsMember({"optimized", "unoptimized"}));
  command.add_option("--strategy", arguments->strategy,
                     "What decides which warp of a program runs next, as for exec");
  command.add_option("--seed", arguments->seed, "Seed of the strategy")->capture_default_str();
  arguments->editor.add_to(command);
  command.footer(
      "Stops before the first instruction and reads commands, as gdb and cuda-gdb have them: help\n"
      "lists them.  Everything works backwards, too: reverse-step, reverse-continue, watch "
      "share[5]\n"
      "and reverse-continue for who wrote it last, finding 1 2 for the second side of a finding.\n"
      "\n"
      "Examples:\n"
      "  warpcheck debug fuzz/cases/scan_hillis_steele_published/cc66.case\n"
      "  warpcheck debug -- ./scan 1000\n"
      "  warpcheck debug --configure vscode scan.case   # then F5 in VS Code\n"
      "\n"
      "Exit status: 0 the session was ended, 2 bad usage, or what cannot be run.");
  command.callback([&run, arguments, words] {
    const bool is_case = words->size() == 1 && words->front().ends_with(".case");
    if (is_case) {
      arguments->input = words->front();
    } else {
      arguments->program = *words;
    }
    run = [arguments] { return run_debug(*arguments); };
  });
}

const RegisteredCommand kDebugCommand{{.rank = 57,
                                       .name = "debug",
                                       .help = "Debug a case or a program, forwards and backwards",
                                       .add = add_debug_to}};

}  // namespace
}  // namespace warpcheck
