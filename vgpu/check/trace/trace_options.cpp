#include "vgpu/check/trace/trace_options.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Reads "5" or "5-7".
bool read_range(std::string_view text, std::uint32_t& first, std::uint32_t& last) {
  const std::size_t dash = text.find('-');
  if (!read_number(text.substr(0, dash), first)) return false;
  last = first;
  return (dash == std::string_view::npos || read_number(text.substr(dash + 1), last)) &&
         first <= last;
}

}  // namespace

std::uint32_t lanes_of_text(std::string_view text) {
  std::uint32_t lanes = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    std::uint32_t first = 0, last = 0;
    if (!read_range(rest.substr(0, comma), first, last) || last >= kWarpLanes) {
      throw TraceOptionError(
          fmt::format("'{}' is no list of lanes; expected numbers from 0 to 31, as 0,5-7", text));
    }
    for (std::uint32_t lane = first; lane <= last; ++lane) lanes |= 1u << lane;
    if (comma == std::string_view::npos) return lanes;
    rest.remove_prefix(comma + 1);
  }
}

std::string text_of_lanes(std::uint32_t lanes) {
  std::string text;
  while (lanes != 0) {
    const int first = std::countr_zero(lanes);
    const int count = std::countr_one(lanes >> first);
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (count > 1) text += fmt::format("-{}", first + count - 1);
    lanes = first + count >= 32 ? 0 : lanes >> (first + count) << (first + count);
  }
  return text;
}

std::string counted_lanes(std::uint32_t lanes) {
  return fmt::format("{} {}", std::has_single_bit(lanes) ? "lane" : "lanes", text_of_lanes(lanes));
}

void set_lines(TraceOptions& options, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  options.file = text.substr(0, colon);
  options.line_first = options.line_last = 0;
  const bool is_good = colon == std::string_view::npos ||
                       (read_range(text.substr(colon + 1), options.line_first, options.line_last) &&
                        options.line_first != 0);
  if (!is_good || options.file.empty()) {
    throw TraceOptionError(
        fmt::format("'{}' names no lines; expected FILE, FILE:LINE or FILE:FIRST-LAST", text));
  }
}

bool shows_kernel(const TraceOptions& options, std::string_view mangled) {
  if (options.kernel.empty() || options.kernel == mangled) return true;
  return kernel_name(mangled).find(options.kernel) != std::string::npos;
}

bool shows_line(const TraceOptions& options, const Program& program, std::uint32_t pc) {
  if (options.file.empty()) return true;
  const ptx::SourceLocation& at = program.user_location(pc);
  if (at.file >= program.files.size()) return false;
  const std::string_view path = program.files[at.file], wanted = options.file;
  if (!path.ends_with(wanted)) return false;
  const bool is_whole = path.size() == wanted.size() || wanted.front() == '/' ||
                        path[path.size() - wanted.size() - 1] == '/';
  const bool is_line =
      options.line_first == 0 || (at.line >= options.line_first && at.line <= options.line_last);
  return is_whole && is_line;
}

// Fields are separated by a character that is in no name.
std::string to_text(const TraceOptions& o) {
  const auto number = [](const std::optional<std::uint32_t>& one) {
    return one ? std::to_string(*one) : std::string();
  };
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}",
                     o.format == TraceFormat::chrome ? 1 : 0, o.bytes_max, o.kernel,
                     number(o.block), number(o.warp), o.file, o.line_first, o.line_last, o.lanes,
                     o.accesses ? 1 : 0);
}

std::optional<TraceOptions> trace_options_of(std::string_view text) {
  constexpr std::size_t kFields = 10;
  std::vector<std::string_view> fields;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find('\n');
    fields.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  if (fields.size() != kFields) return std::nullopt;
  TraceOptions options;
  std::uint32_t format = 0, accesses = 0;
  const auto number = [](std::string_view field, std::optional<std::uint32_t>& one) {
    return field.empty() || read_number(field, one.emplace());
  };
  options.kernel = fields[2];
  options.file = fields[5];
  const bool is_good =
      read_number(fields[0], format) && read_number(fields[1], options.bytes_max) &&
      number(fields[3], options.block) && number(fields[4], options.warp) &&
      read_number(fields[6], options.line_first) && read_number(fields[7], options.line_last) &&
      read_number(fields[8], options.lanes) && read_number(fields[9], accesses);
  if (!is_good || format > 1 || accesses > 1) return std::nullopt;
  options.format = format == 1 ? TraceFormat::chrome : TraceFormat::text;
  options.accesses = accesses == 1;
  return options;
}

}  // namespace warpcheck::vgpu
