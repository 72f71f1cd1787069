// The options of traces on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "vgpu/check/trace/trace_options.hpp"

namespace warpcheck {

struct TraceArguments {
  std::string file;  // empty: standard output
  std::string format, lines, lanes;
  vgpu::TraceOptions options;
  std::vector<const CLI::Option*> given;  // those that add_to() has added

  void add_to(CLI::App& command);
  // The same, and --trace FILE, for a command that runs programs; without a file nothing is traced.
  void add_for_programs_to(CLI::App& command);
  // Throws UsageError for a word that is not what was expected.
  [[nodiscard]] vgpu::TraceOptions value() const;
  // Returns the options for the processes of a program; empty: nothing is traced.
  [[nodiscard]] std::string settings() const;

  // Make the file, and write its end.  Throw UsageError with the reason.
  void begin();
  //   is_cut: the program was killed
  void end(bool is_cut = false) const;

 private:
  bool of_programs_ = false;
};

// Reads a number of bytes with a unit, as a CLI::Validator's function: CLI::AsSizeValue's error
// lists every spelling of every unit.
std::string to_size(std::string& word);

}  // namespace warpcheck
