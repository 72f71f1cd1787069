// warpcheck fix: a verified patch of the source of a failing case.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/run_directory.hpp"
#include "cli/fix/program_fix.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/progress.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

struct FixArguments {
  std::string case_file;
  std::vector<std::string> program;  // and its arguments; empty: a case is given
  FixOptions options;
  unsigned devices = 1;
  int runs = 20;
  std::string nvcc;
  CompileOption compile;
  bool apply = false;
  std::string build;
};

std::string what_text(const Fix& fix) {
  std::string text;
  for (const std::string& what : fix.patch.what) text += fmt::format("  {}\n", what);
  return text;
}

std::string fix_text(const std::string& title, const Fix& fix) {
  std::string text = fmt::format("FIXED {}\n", title) + what_text(fix);
  text += fmt::format(
      "  verified with the code that nvcc makes of the changed source, in both builds and warp "
      "models:\n    {} under {}, and {} of the pair: no finding, and the reference's results\n",
      counted(fix.cases, "failing case"), counted(fix.schedules, "schedule"),
      counted(fix.trials, "trial"));
  if (fix.proved) {
    text += "  proved for every size: no race, and nothing out of bounds (as shipped)\n";
  }
  text += fmt::format("  in the case: barriers {} -> {}, warp instructions {} -> {}\n",
                      fix.barriers_before, fix.barriers_after, fix.steps_before, fix.steps_after);
  text += fmt::format("  {} tried; {} would do as well for the known cases\n",
                      counted(fix.tried, "change"), fix.other_fixes);
  return text + "\n" + diff_of(fix);
}

std::string words_of_program(const std::vector<std::string>& program) {
  std::string text;
  for (const std::string& word : program) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string fix_text(const FixArguments& arguments, const Fix& fix) {
  std::string text =
      fmt::format("FIXED {}\n", words_of_program(arguments.program)) + what_text(fix);
  text += fmt::format(
      "  verified with the {} that nvcc makes of the changed source, in {}warp "
      "models:\n    {} of the program with these arguments, under all strategies: no finding, "
      "status 0\n",
      fix.is_of_host ? "program" : "code", fix.is_of_host ? "both " : "both builds and ",
      counted(fix.trials, "run"));
  text += fmt::format("  thread instructions {} -> {}\n", fix.steps_before, fix.steps_after);
  text += fmt::format("  {} tried; {} would do as well for the known runs\n",
                      counted(fix.tried, "change"), fix.other_fixes);
  if (patch_root() != std::filesystem::current_path()) {
    text += fmt::format("  names are those below {}\n", patch_root().string());
  }
  return text + "\n" + diff_of(fix);
}

// A change of host code that is named, and not made.
std::string host_fix_text(const std::string& title, const Fix& fix) {
  return fmt::format(
      "HOST CODE of {}\n  it lacks {}\n  verified with that supposed, in both warp models: {} "
      "without a finding, and the right results\n",
      title, fix.host_change, counted(fix.trials, "run"));
}

int status_of_shell(const std::string& command) {
  std::fflush(stdout);
  const int status = std::system(command.c_str());
  return status == -1 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

std::string own_path() {
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string deleted = " (deleted)";  // the build has put another file there
  if (program.ends_with(deleted)) program.resize(program.size() - deleted.size());
  return program;
}

// Writes the changed files; builds and runs what was built.
int apply_fix(const FixArguments& arguments, const Fix& fix) {
  for (const auto& [file, text] : fix.after) {
    write_file_atomically(fix.paths.at(file), text);
    print(fmt::format("changed {}\n", fix.paths.at(file)));
  }
  if (arguments.build.empty()) return kNothingFound;
  if (const int status = status_of_shell(arguments.build + " >&2"); status != 0) {
    complain(fmt::format("the patch is applied, but '{}' fails with status {}", arguments.build,
                         status));
    return kCannot;
  }
  const bool is_case = arguments.program.empty();
  const std::string again =
      is_case ? fmt::format("replay {}", shell_word(arguments.case_file))
              : fmt::format("exec --runs {} --devices {} -- {} >/dev/null", arguments.runs,
                            arguments.devices, words_of_program(arguments.program));
  const int status = status_of_shell(fmt::format("{} {}", shell_word(own_path()), again));
  if (status != kNothingFound) return kFindings;
  print(is_case ? "the built program no longer fails in this case\n"
                : fmt::format("the built program shows nothing in {}\n",
                              counted(std::size_t(arguments.runs), "run")));
  return kNothingFound;
}

int end_fix(const FixArguments& arguments, const std::string& title, const Fix& fix,
            const std::string& text) {
  if (!fix.refusal.empty() && arguments.options.is_interrupted()) {
    complain(fmt::format("fix {}: interrupted", title));
    return kInterrupted;
  }
  if (!fix.refusal.empty()) {
    print(fmt::format("no patch for {}: {}\n", title, fix.refusal));
    return kFindings;
  }
  if (!fix.host_change.empty() && fix.patch.files.empty()) {
    print(host_fix_text(title, fix));
    if (arguments.apply) complain("host code is not changed: do it by hand");
    return arguments.apply ? kCannot : kNothingFound;
  }
  print(text);
  return arguments.apply ? apply_fix(arguments, fix) : kNothingFound;
}

int run_fix_of_program(FixArguments& arguments) {
  const ProgramFile program = find_program(arguments.program.front());
  require_our_runtime(program);
  const RunDirectory directory;
  const ProgramToFix to_fix{.path = program.path,
                            .arguments = {arguments.program.begin() + 1, arguments.program.end()},
                            .devices = arguments.devices,
                            .runs = arguments.runs,
                            .nvcc = arguments.nvcc,
                            .directory = directory.path()};
  const std::string title = words_of_program(arguments.program);
  // What is built is run by the user's process, when the supervisor has ended.
  return Supervisor::run([&](Supervisor& supervisor) {
    Progress progress;
    arguments.options.on_step = [&](const std::string& line) {
      progress.show([&] { return line; });
    };
    arguments.options.is_interrupted = [&] { return supervisor.is_stopped(); };
    const Fix fix = fix_program(to_fix, supervisor, arguments.options);
    progress.clear();
    return end_fix(arguments, title, fix, fix.refusal.empty() ? fix_text(arguments, fix) : "");
  });
}

int run_fix(FixArguments& arguments) {
  if (!arguments.build.empty() && !arguments.apply) {
    throw UsageError("--build needs --apply: what is built is the changed source");
  }
  if (arguments.case_file.empty() == arguments.program.empty()) {
    throw UsageError("expected a case file; or, after --, a program and its arguments");
  }
  if (!arguments.program.empty()) {
    try {
      return run_fix_of_program(arguments);
    } catch (const ProgramError& error) {
      complain(error.what());
      return kCannot;
    }
  }
  const CaseRecord record = read_case(arguments.case_file, Registry::global());
  Progress progress;
  arguments.options.on_step = [&](const std::string& line) { progress.show([&] { return line; }); };
  arguments.options.is_interrupted = [interrupted = watch_interrupts()] {
    return *interrupted != 0;
  };
  const Fix fix = fix_case(record, arguments.options);
  progress.clear();
  const std::string title = record.a_case.title();
  return end_fix(arguments, title, fix, fix.refusal.empty() ? fix_text(title, fix) : "");
}

void add_fix_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<FixArguments>();
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("CASE", *words, "A failing case; or, after --, a program and its arguments")
      ->expected(1, -1)
      ->type_name("CASE|PROGRAM ARG...");
  command
      .add_option("--trials", arguments->options.trials,
                  "Trials of the pair that a patch must pass")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--seed", arguments->options.seed, "Seed of these trials")
      ->capture_default_str();
  command.add_flag("--all-sizes", arguments->options.all_sizes,
                   "Of a case: also ask for every size, from the code alone, whether the kernels "
                   "with the patch are free of races and in bounds");
  command
      .add_option("--runs", arguments->runs,
                  "Runs of a program in each build and warp model that a patch must pass")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--devices", arguments->devices, "Number of devices of a program")
      ->check(CLI::Range(1u, vgpu::kDevicesMax))
      ->capture_default_str();
  command
      .add_option("--nvcc", arguments->nvcc,
                  "Options of nvcc for the files of a program, for example '-std=c++20 -Iinclude' "
                  "(default: those in compile_commands.json)")
      ->type_name("OPTIONS");
  command.add_flag("--apply", arguments->apply, "Change the source files");
  command.add_option("--build", arguments->build,
                     "With --apply: a command that builds the program; then the case is replayed, "
                     "or the program run, as it was built");
  arguments->compile.add_to(command);
  command.footer(
      "Tries changes of the kernels' source: barriers, fences, atomics, bounds, first values.  "
      "Each\n"
      "is compiled by nvcc in both builds and run; only a change with which the case, and trials "
      "of\n"
      "its pair in both builds and warp models, show no finding and the reference's results is\n"
      "printed, as a unified diff.  Of several, the one that does least.  Of a program, runs "
      "under\n"
      "all strategies must show no finding, and end with status 0.\n"
      "\n"
      "Examples:\n"
      "  warpcheck fix fuzz/cases/scan/3f9a.case\n"
      "  warpcheck fix fuzz/cases/scan/3f9a.case | patch -p1\n"
      "  warpcheck fix --apply --build 'cmake --build build' fuzz/cases/scan/3f9a.case\n"
      "  warpcheck fix -- ./scan 1000\n"
      "\n"
      "Exit status: 0 a verified patch, 1 none was found, 2 bad usage, a bad file, or a kernel "
      "that\n"
      "cannot be run, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback([&run, arguments, words] {
    if (words->size() == 1 && words->front().ends_with(".case")) {
      arguments->case_file = words->front();
    } else {
      arguments->program = *words;
    }
    run = [arguments] { return run_fix(*arguments); };
  });
}

const RegisteredCommand kFixCommand{{.rank = 47,
                                     .name = "fix",
                                     .help = "Find a verified patch for a failing case",
                                     .add = add_fix_to}};

}  // namespace
}  // namespace warpcheck
