// What a trace shows, and how much of it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpcheck::vgpu {

struct Program;

enum class TraceFormat : std::uint8_t { text, chrome };

struct TraceOptions {
  TraceFormat format = TraceFormat::text;
  std::uint64_t bytes_max = 64u << 20;  // of the file
  // Only steps of kernels whose name contains this, or is it, mangled; empty: of all.
  std::string kernel;
  std::optional<std::uint32_t> block, warp;  // linear, in the grid and in the block
  // Only steps of these lines of files whose path is this or ends with "/" and this; empty: all.
  std::string file;
  std::uint32_t line_first = 0, line_last = 0;  // 0: all lines of the file
  std::uint32_t lanes = 0;  // whose values are shown; 0: of the first active one
  bool accesses = false;    // chrome: a slice for every access
};

// A word of the command line that is not what was expected.  what() is one line.
class TraceOptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads "0,5-7" as lanes.  Throws TraceOptionError.
[[nodiscard]] std::uint32_t lanes_of_text(std::string_view text);
// Returns "0,5-7"; counted_lanes(): "lane 3" or "lanes 0,5-7".
[[nodiscard]] std::string text_of_lanes(std::uint32_t lanes);
[[nodiscard]] std::string counted_lanes(std::uint32_t lanes);
// Reads "scan.cu:10-20", "scan.cu:14" or "scan.cu" into the options.  Throws TraceOptionError.
void set_lines(TraceOptions& options, std::string_view text);

// Whether the filters show a kernel, and an instruction of it.
[[nodiscard]] bool shows_kernel(const TraceOptions& options, std::string_view mangled);
[[nodiscard]] bool shows_line(const TraceOptions& options, const Program& program,
                              std::uint32_t pc);

// One word for settings that travel to another process; trace_options_of() returns nothing for
// another text.
[[nodiscard]] std::string to_text(const TraceOptions& options);
[[nodiscard]] std::optional<TraceOptions> trace_options_of(std::string_view text);

}  // namespace warpcheck::vgpu
