#include "cli/cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "cli/completion.hpp"
#include "cli/manual.hpp"
#include "cli/run_cli.hpp"
#include "cli/version.hpp"
#include "harness/case/case_file.hpp"
#include "harness/pair/expectations.hpp"
#include "harness/pair/project.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/children.hpp"
#include "harness/process/progress.hpp"
#include "harness/process/terminal.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/text/nearest_word.hpp"

namespace warpcheck {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

template <class Names>
auto values_named(const Names& names, std::string_view wanted) {
  std::vector<typename Names::value_type::first_type> values;
  for (const auto& [value, name] : names) {
    if (wanted == kBoth || wanted == name) values.push_back(value);
  }
  return values;
}

template <class Names>
std::set<std::string> allowed(const Names& names) {
  std::set<std::string> list{std::string(kBoth)};
  for (const auto& [value, name] : names) list.emplace(name);
  return list;
}

std::vector<std::string> commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

// "no command given: list, hunt, ..."
std::string missing_command(const CLI::App& app) {
  return fmt::format("no command given: {}", fmt::join(commands(app), ", "));
}

// "warpcheck check --help"
std::string help_of(const CLI::App& command) {
  std::string words = "--help";
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    words = app->get_name() + " " + words;
  }
  return words;
}

// Returns the text that asks whether another option was meant; empty if none is near.
std::string is_it_option(const CLI::App& command, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::Option* one : command.get_options()) {
    for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
  }
  return is_it(option, names);
}

// What no option accepts: the `--` before a program, and the `-` that other tools take for standard
// output, which has the text of the run here.
std::string is_no_value(const std::string& word) {
  if (word == "--") return "a value is missing before --";
  return word == "-" ? "name a file: - is not standard output here" : "";
}

// If positional words follow the options (a program, pairs, cases), a list option takes one word
// each time, with commas in it, or is given again.  So it takes neither the program that follows it
// nor the `--` before that.
void take_one_word(CLI::App& app) {
  const auto is_positional = [](const CLI::Option* option) { return option->get_positional(); };
  const bool has_positionals = std::ranges::any_of(app.get_options(), is_positional);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    if (has_positionals && option->get_allow_extra_args()) option->allow_extra_args(false);
    if (option->get_items_expected_max() > 0) option->check(is_no_value);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    take_one_word(*command);
  }
}

std::string whole_number(const std::string& word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_one = error == std::errc() && end == word.data() + word.size();
  return is_one ? "" : fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", word);
}

// CLI11 itself takes -1 and nothing for a whole number, and the largest one for a larger one.
void refuse_wrong_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_name().starts_with("UINT")) option->check(whole_number);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_wrong_numbers(*command);
  }
}

// What words name before `--`.
struct NamedCommand {
  const CLI::App* command = nullptr;  // the innermost one
  std::string first_word{};           // after its name; empty: none, or an option
  std::string
      unknown_option{};  // the first word that looks like an option but is none of its; or empty
};
NamedCommand named_command(const CLI::App& app, std::span<const char* const> words) {
  NamedCommand named{.command = &app};
  bool follows_command = true;
  for (const std::string word : words) {
    if (word == "--") break;
    const auto is_named = [&](const CLI::App* below) { return below->get_name() == word; };
    if (const auto below = named.command->get_subcommands(is_named); !below.empty()) {
      named.command = below.front();
      follows_command = true;
      continue;
    }
    const bool is_option = word.starts_with('-') && word.size() > 1;
    if (follows_command && !is_option) named.first_word = word;
    follows_command = false;
    if (!is_option) continue;
    std::string name = word.substr(0, word.find('='));
    if (named.unknown_option.empty() && named.command->get_option_no_throw(name) == nullptr) {
      named.unknown_option = std::move(name);
    }
  }
  return named;
}

// A wrong or missing word can make the parser complain of another one that is missing: an unknown
// option is told first, then a word where the name of a command is expected.
std::string usage_message(const CLI::App& app, std::span<const char* const> words,
                          const CLI::Error& error) {
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!is_extra && dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  const NamedCommand named = named_command(app, words);
  if (!named.unknown_option.empty()) {
    const bool runs_a_program = named.command->get_option_no_throw("PROGRAM") != nullptr;
    return fmt::format("no such option: {}{}{}", named.unknown_option,
                       is_it_option(*named.command, named.unknown_option),
                       runs_a_program ? "; the program's own options follow --" : "");
  }
  const bool expects_command =
      named.command == &app || named.command->get_require_subcommand_min() > 0;
  if (!expects_command && is_extra) {
    return fmt::format("not expected: {}", fmt::join(app.remaining(true), " "));
  }
  if (!expects_command) return error.what();
  if (named.first_word.empty()) return missing_command(*named.command);
  const std::vector<std::string> known = commands(*named.command);
  return fmt::format("no such command: {}{}; there are {}", named.first_word,
                     is_it(named.first_word, known), fmt::join(known, ", "));
}

std::vector<CommandRow>& registered_commands() {
  static std::vector<CommandRow> rows;
  return rows;
}

// Every command by its name; the options only of those that are asked for, because all of them
// together take longer to build than most commands to run.
void add_commands(CLI::App& app, Run& run, std::span<const char* const> words) {
  const bool asks_for_all =
      !words.empty() && (words[0] == kCompleteCommand || words[0] == kManualCommand);
  std::vector<CommandRow> rows = registered_commands();
  std::ranges::sort(rows, {}, [](const CommandRow& row) {
    return std::pair(row.rank, std::string_view(row.name));
  });
  for (const CommandRow& row : rows) {
    CLI::App* const command = app.add_subcommand(row.name, row.help);
    if (row.is_hidden) command->group("");
    if (asks_for_all || std::ranges::find(words, std::string_view(row.name)) != words.end()) {
      row.add(*command, run);
    }
  }
}

std::optional<double> finite_number(const std::string& word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_one =
      error == std::errc() && end == word.data() + word.size() && std::isfinite(number);
  return is_one ? std::optional(number) : std::nullopt;
}

[[noreturn]] void throw_unwritten_output() {
  throw UsageError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

int run_guarded(const Run& run) {
  try {
    return run();
  } catch (const std::exception& error) {
    complain(error.what());
    return kCannot;
  }
}

}  // namespace

RegisteredCommand::RegisteredCommand(const CommandRow& row) {
  registered_commands().push_back(row);
}

int run_cli(int argc, const char* const* argv) {
  CLI::App app{"Finds bugs in CUDA kernels, on a virtual GPU.", project().program};
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "warpcheck " + version_and_commit());
  app.footer(
      "`COMMAND --help` says the rest, with examples.\n"
      "\n"
      "Exit status: 0 nothing found, 1 findings, 2 bad usage, a bad file or something "
      "unsupported,\n"
      "130 interrupted.\n"
      "\n"
      "Environment: NO_COLOR=1 keeps terminals without colour; WARPCHECK_SIMD=baseline or avx2 "
      "uses\n"
      "no wider instructions than these.");
  const std::span<const char* const> words(argv + std::min(argc, 1), argv + argc);
  app.failure_message([words](const CLI::App* root, const CLI::Error& error) {
    return fmt::format("{}: {} (try {})\n", project().program, usage_message(*root, words, error),
                       help_of(*named_command(*root, words).command));
  });
  Run run;
  add_commands(app, run, words);
  take_one_word(app);
  refuse_wrong_numbers(app);
  if (argc > 1 && argv[1] == kCompleteCommand) {
    return run_guarded([&] { return complete(app, {argv + 2, argv + argc}); });
  }
  if (argc > 1 && argv[1] == kManualCommand) {
    return run_guarded([&] {
      print(manual_page(app, project().program, version()));
      return kNothingFound;
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kCannot;
    return run_guarded([] {
      if (!std::cout.flush()) throw_unwritten_output();
      return kNothingFound;
    });
  }
  if (!run) {
    run = [&app]() -> int {
      throw UsageError(fmt::format("{} (try {})", missing_command(app), help_of(app)));
    };
  }
  hear_of_children();
  return run_guarded(run);
}

std::string positive_number(const std::string& word) {
  const std::optional<double> number = finite_number(word);
  return number && *number > 0 ? "" : fmt::format("{} is not a positive number", word);
}

std::string non_negative_number(const std::string& word) {
  const std::optional<double> number = finite_number(word);
  return number && *number >= 0 ? "" : fmt::format("{} is not 0 or a positive number", word);
}

std::vector<const AnyPair*> pairs_named(const std::vector<std::string>& names) {
  Registry& registry = Registry::global();
  if (names.empty()) return registry.pairs();
  std::vector<const AnyPair*> pairs;
  for (const std::string& name : names) {
    const AnyPair* pair = registry.find(name);
    if (pair == nullptr) {
      throw UsageError(fmt::format("no pair '{}'{}; `{} list` names them all", name,
                                   registry.is_it(name), project().program));
    }
    pairs.push_back(pair);
  }
  std::ranges::sort(pairs, {}, &AnyPair::name);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

void ConfigurationOptions::add_to(CLI::App& command) {
  command.add_option("--build", build, "Device code: as shipped, or nvcc -G")
      ->check(CLI::IsMember(allowed(kBuildNames)))
      ->capture_default_str();
  command.add_option("--warp-model", warp_model, "What orders the lanes of a warp")
      ->check(CLI::IsMember(allowed(kWarpModelNames)))
      ->capture_default_str();
  command.add_flag("--portable", portable, "Note code that only devices from sm_70 on allow");
}

void ConfigurationOptions::add_checks_to(CLI::App& command) {
  std::set<std::string> optional;
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    if (!row.by_default) optional.emplace(row.name);
  }
  command
      .add_option("--check", checks, "What to look for beside everything that is always checked")
      ->delimiter(',')
      ->check(CLI::IsMember(optional));
}

void add_volatile_option(CLI::App& command, std::string& value) {
  std::set<std::string> names;
  for (const auto& [is_weak, name] : kVolatileNames) names.emplace(name);
  command
      .add_option("--volatile", value,
                  "Volatile accesses: strong, as PTX defines them, or like plain ones")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

void CompileOption::add_to(CLI::App& command) {
  std::set<std::string> names;
  for (const auto& [compile, name] : vgpu::kCompileNames) names.emplace(name);
  option_ = command
                .add_option_function<std::string>(
                    "--compile", [this](const std::string& word) { set(word); },
                    "Which kernels run as machine code instead of being interpreted: none, "
                    "those that run long, or all; results do not depend on it")
                ->check(CLI::IsMember(names))
                ->default_str(std::string(word()));
}

void CompileOption::set(const std::string& word) {
  value_ = values_named(vgpu::kCompileNames, word).front();
  const std::string_view why = vgpu::why_no_machine_code();
  if (value_ == vgpu::Compile::at_once && !why.empty()) {
    throw CLI::ValidationError(
        fmt::format("--compile always: there is no machine code here: {}", why));
  }
  set_compile(value_);
}

std::string_view CompileOption::word() const {
  return std::ranges::find(vgpu::kCompileNames, value_,
                           &decltype(vgpu::kCompileNames)::value_type::first)
      ->second;
}

std::vector<Settings> ConfigurationOptions::settings() const {
  std::vector<Settings> list;
  for (const cudart::Build a_build : values_named(kBuildNames, build)) {
    for (const vgpu::WarpModel model : values_named(kWarpModelNames, warp_model)) {
      Settings settings;
      settings.build = a_build;
      settings.warp_model = model;
      settings.checkers.portable = portable;
      for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
        if (std::ranges::find(checks, row.name) != checks.end())
          settings.checkers.*row.enabled = true;
      }
      settings.checkers.volatile_is_weak = volatile_accesses == kVolatileNames[1].second;
      list.push_back(settings);
    }
  }
  return list;
}

bool save_case(Report& report, const std::string& directory) {
  try {
    const auto path = keep_case(std::filesystem::path(directory) / report.a_case.pair->name(),
                                report.a_case, report.verdict);
    report.replay_path = path.generic_string();
    return true;
  } catch (const CaseFileError& error) {
    complain(error.what());
    return false;
  }
}

void complain(std::string_view message) {
  // Not fmt::print, which throws if standard error is full or closed.
  std::fputs(fmt::format("{}: {}\n", project().program, message).c_str(), stderr);
}

void print(const std::string& plain) {
  const std::string text = wants_color(STDOUT_FILENO) ? colored_verdicts(plain) : plain;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw_unwritten_output();
  }
}

const volatile std::sig_atomic_t* watch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
  return &interrupted;
}

}  // namespace warpcheck
