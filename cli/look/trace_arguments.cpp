#include "cli/look/trace_arguments.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "cli/cli.hpp"
#include "vgpu/check/trace/trace_file.hpp"

namespace warpcheck {
namespace {

void require_trace_written(const std::string& file, int error) {
  if (error == 0) return;
  throw UsageError(fmt::format("cannot write to {}: {}", file.empty() ? "standard output" : file,
                               std::strerror(error)));
}

}  // namespace

void TraceArguments::add_to(CLI::App& command) {
  given.push_back(command
                      .add_option("--format", format,
                                  "Of the trace: text, or chrome for ui.perfetto.dev and "
                                  "chrome://tracing (default: by the file's ending .json)")
                      ->check(CLI::IsMember({"text", "chrome"})));
  given.push_back(
      command.add_option("--kernel", options.kernel, "Trace only kernels with this in their name"));
  given.push_back(
      command.add_option("--block", options.block, "Trace only this block of the grid, from 0"));
  given.push_back(
      command.add_option("--warp", options.warp, "Trace only this warp of each block, from 0"));
  given.push_back(command
                      .add_option("--lines", lines,
                                  "Trace only these source lines: scan.cu:10-20, scan.cu:14, "
                                  "scan.cu")
                      ->type_name("FILE:A-B"));
  given.push_back(command
                      .add_option("--lanes", lanes,
                                  "Show the values of these lanes, for example 0,5-7 (default: the "
                                  "first active one; of a case: the threads of its findings)")
                      ->type_name("LANES"));
  given.push_back(command.add_flag("--accesses", options.accesses,
                                   "With --format chrome: a slice for every access"));
  given.push_back(command
                      .add_option("--trace-limit", options.bytes_max,
                                  "Most bytes of the trace, for example 4M; its end says how much "
                                  "is left out")
                      ->transform(CLI::Validator(to_size, ""))
                      ->type_name("BYTES")
                      ->default_str("64M"));
}

void TraceArguments::add_for_programs_to(CLI::App& command) {
  of_programs_ = true;
  command
      .add_option("--trace", file,
                  "Write what ran to FILE, an instruction a line; of several --runs the first")
      ->type_name("FILE");
  add_to(command);
}

vgpu::TraceOptions TraceArguments::value() const {
  vgpu::TraceOptions chosen = options;
  const bool is_chrome = format.empty() ? file.ends_with(".json") : format == "chrome";
  chosen.format = is_chrome ? vgpu::TraceFormat::chrome : vgpu::TraceFormat::text;
  if (options.accesses && !is_chrome) {
    throw UsageError("--accesses needs --format chrome, or a file that ends with .json");
  }
  try {
    if (!lines.empty()) vgpu::set_lines(chosen, lines);
    if (!lanes.empty()) chosen.lanes = vgpu::lanes_of_text(lanes);
  } catch (const vgpu::TraceOptionError& error) {
    throw UsageError(error.what());
  }
  return chosen;
}

std::string TraceArguments::settings() const { return file.empty() ? "" : vgpu::to_text(value()); }

void TraceArguments::begin() {
  if (of_programs_ && file.empty()) {
    for (const CLI::Option* const option : given) {
      if (option->count() != 0) throw UsageError(option->get_name() + " needs --trace FILE");
    }
    return;
  }
  const vgpu::TraceFormat chosen = value().format;
  // A program may change its directory.
  if (of_programs_) file = std::filesystem::absolute(file).string();
  require_trace_written(file, vgpu::TraceFile::begin(file, chosen));
}

void TraceArguments::end(bool is_cut) const {
  if (of_programs_ && file.empty()) return;
  require_trace_written(file, vgpu::TraceFile::end(file, value().format, is_cut));
}

std::string to_size(std::string& word) {
  const std::string given = word;
  try {
    if (CLI::AsSizeValue(false)(word).empty()) return "";
  } catch (const CLI::ValidationError&) {
  }
  return fmt::format("{} is not a size, such as 512M or 16G", given);
}

}  // namespace warpcheck
