// The command line: one file for each command (command_*.cpp), and what they share.
#pragma once

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/settings.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/report/report.hpp"

namespace warpcheck {

inline constexpr int kNothingFound = 0;
inline constexpr int kFindings = 1;
inline constexpr int kCannot = 2;         // bad usage, bad file, unsupported feature
inline constexpr int kInterrupted = 130;  // by Ctrl-C or SIGTERM

// An error of the caller.  what() is one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Set by the selected command; returns the exit status.
using Run = std::function<int()>;

struct CommandRow {
  int rank = 0;      // --help lists commands in this order
  const char* name;  // in the user's command
  const char* help;  // one line; the rest is the footer
  // Adds options, a footer, and a callback that sets the Run; called if the user's words name it.
  void (*add)(CLI::App& command, Run& run);
  bool is_hidden = false;  // internal: not in the help
};

// A command registers itself by a constant of this type in its own file
// (docs/develop/adding-a-command.md).
struct RegisteredCommand {
  explicit RegisteredCommand(const CommandRow& row);
};

// --- shared by commands -------------------------------------------------------------------------

// The pairs of these names, in order of name; without names: all.  Throws UsageError.
std::vector<const AnyPair*> pairs_named(const std::vector<std::string>& names);

// --build and --warp-model, each with the extra value "both".
inline constexpr std::string_view kBoth = "both";

struct ConfigurationOptions {
  std::string build = "optimized";
  std::string warp_model = "independent";
  bool portable = false;
  std::vector<std::string> checks;           // checkers that are off by default
  std::string volatile_accesses = "strong";  // add_volatile_option()

  void add_to(CLI::App& command);
  void add_checks_to(CLI::App& command);  // --check
  [[nodiscard]] std::vector<Settings> settings() const;
};

// --volatile strong|weak
void add_volatile_option(CLI::App& command, std::string& value);

// --compile never|auto|always: for all trials of this process and of its workers, from parsing on.
class CompileOption {
 public:
  void add_to(CLI::App& command);
  [[nodiscard]] vgpu::Compile value() const { return value_; }
  [[nodiscard]] bool is_given() const { return option_->count() != 0; }
  [[nodiscard]] std::string_view word() const;

 private:
  void set(const std::string& word);
  vgpu::Compile value_ = vgpu::Compile::when_it_pays;
  CLI::Option* option_ = nullptr;
};

// Writes a failure's case under `directory`/<pair>/ and records its path in the report.  Returns
// false, with a line on stderr, if it could not be written: the report is still worth printing.
bool save_case(Report& report, const std::string& directory);

// Checks of an option's word; the errors of CLI::PositiveNumber and CLI::NonNegativeNumber name the
// largest double.
std::string positive_number(const std::string& word);
std::string non_negative_number(const std::string& word);

// Prints one line to stderr, after the program's name.
void complain(std::string_view message);

// Prints a whole text to stdout, on a terminal with coloured verdicts.  Throws UsageError if it
// cannot be written (a full disk).
void print(const std::string& text);

// Returns a flag that is non-zero after Ctrl-C or SIGTERM, by which clusters, CI services and
// `timeout` end a job.  A second Ctrl-C ends the program.
const volatile std::sig_atomic_t* watch_interrupts();

}  // namespace warpcheck
