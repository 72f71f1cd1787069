// warpcheck fix: a verified patch of the source of a failing case.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "cli/cli.hpp"
#include "cli/fix/fix.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/pair/registry.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/process/progress.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

struct FixArguments {
  std::string case_file;
  FixOptions options;
  CompileOption compile;
  bool apply = false;
  std::string build;
};

std::string fix_text(const std::string& title, const Fix& fix) {
  std::string text = fmt::format("FIXED {}\n", title);
  for (const std::string& what : fix.patch.what) text += fmt::format("  {}\n", what);
  text += fmt::format(
      "  verified with the code that nvcc makes of the changed source, in both builds and warp "
      "models:\n    {} under {}, and {} of the pair: no finding, and the reference's results\n",
      counted(fix.cases, "failing case"), counted(fix.schedules, "schedule"),
      counted(fix.trials, "trial"));
  text += fmt::format("  in the case: barriers {} -> {}, warp instructions {} -> {}\n",
                      fix.barriers_before, fix.barriers_after, fix.steps_before, fix.steps_after);
  text += fmt::format("  {} tried; {} would do as well for the known cases\n",
                      counted(fix.tried, "change"), fix.other_fixes);
  return text + "\n" + diff_of(fix);
}

int status_of_shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return status == -1 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

// Writes the changed files; builds and replays with what was built.
int apply_fix(const FixArguments& arguments, const Fix& fix) {
  for (const auto& [file, text] : fix.after) {
    const std::filesystem::path path =
        std::filesystem::path(file).is_absolute() ? file : built_path(file);
    write_file_atomically(path, text);
    print(fmt::format("changed {}\n", path.string()));
  }
  if (arguments.build.empty()) return kNothingFound;
  std::fflush(stdout);
  if (const int status = status_of_shell(arguments.build + " >&2"); status != 0) {
    complain(fmt::format("the patch is applied, but '{}' fails with status {}", arguments.build,
                         status));
    return kCannot;
  }
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string deleted = " (deleted)";  // the build has put another file there
  if (program.ends_with(deleted)) program.resize(program.size() - deleted.size());
  const int status = status_of_shell(
      fmt::format("{} replay {}", shell_word(program), shell_word(arguments.case_file)));
  if (status == kNothingFound) print("the built program no longer fails in this case\n");
  return status == kNothingFound ? kNothingFound : kFindings;
}

int run_fix(FixArguments& arguments) {
  if (!arguments.build.empty() && !arguments.apply) {
    throw UsageError("--build needs --apply: what is built is the changed source");
  }
  arguments.compile.apply();
  const CaseRecord record = read_case(arguments.case_file, Registry::global());
  Progress progress;
  arguments.options.on_step = [&](const std::string& line) { progress.show([&] { return line; }); };
  const Fix fix = fix_case(record, arguments.options);
  progress.clear();
  if (!fix.refusal.empty()) {
    print(fmt::format("no patch for {}: {}\n", record.a_case.title(), fix.refusal));
    return kFindings;
  }
  print(fix_text(record.a_case.title(), fix));
  return arguments.apply ? apply_fix(arguments, fix) : kNothingFound;
}

void add_fix_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<FixArguments>();
  command.add_option("CASE", arguments->case_file, "A failing case")->required();
  command
      .add_option("--trials", arguments->options.trials,
                  "Trials of the pair that a patch must pass")
      ->check(positive_number)
      ->capture_default_str();
  command.add_option("--seed", arguments->options.seed, "Seed of these trials")
      ->capture_default_str();
  command.add_flag("--apply", arguments->apply, "Change the source files");
  command.add_option("--build", arguments->build,
                     "With --apply: a command that builds the program; then the case is replayed "
                     "with what was built");
  arguments->compile.add_to(command);
  command.footer(
      "Tries changes of the kernels' source: barriers, fences, atomics, bounds, first values.  "
      "Each\n"
      "is compiled by nvcc in both builds and run; only a change with which the case, and trials "
      "of\n"
      "its pair in both builds and warp models, show no finding and the reference's results is\n"
      "printed, as a unified diff.  Of several, the one that does least.\n"
      "\n"
      "Examples:\n"
      "  warpcheck fix fuzz/cases/scan/3f9a.case\n"
      "  warpcheck fix fuzz/cases/scan/3f9a.case | patch -p1\n"
      "  warpcheck fix --apply --build 'cmake --build build' fuzz/cases/scan/3f9a.case\n"
      "\n"
      "Exit status: 0 a verified patch, 1 none was found, 2 bad usage, a bad file, or a kernel "
      "that\n"
      "cannot be run.");
  command.callback([&run, arguments] { run = [arguments] { return run_fix(*arguments); }; });
}

const RegisteredCommand kFixCommand{{.rank = 47,
                                     .name = "fix",
                                     .help = "Find a verified patch for a failing case",
                                     .add = add_fix_to}};

}  // namespace
}  // namespace warpcheck
