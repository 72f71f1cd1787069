#include "cli/debug/dap/scopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "cli/debug/dap/finding_text.hpp"
#include "cli/debug/dap/thread_requests.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"

namespace warpcheck::dap {
namespace {

using debug::Format;
using debug::Inspector;

constexpr std::size_t kLanes = 32;

using List = std::vector<ShownVariable>;

List part_of(const List& list, std::size_t first, std::size_t count) {
  const auto begin = std::min(first, list.size());
  const auto end = begin + std::min(count, list.size() - begin);
  return {list.begin() + static_cast<std::ptrdiff_t>(begin),
          list.begin() + static_cast<std::ptrdiff_t>(end)};
}

ShownVariable with_members(ShownVariable variable, List members) {
  variable.count = members.size();
  variable.members = [list = std::move(members)](std::size_t first, std::size_t count) {
    return part_of(list, first, count);
  };
  return variable;
}

// A scope whose variables `make` lists.
FrameScope scope(const char* name, const char* hint, bool is_expensive,
                 std::function<List()> make) {
  return {name, hint, is_expensive, [make = std::move(make)](std::size_t first, std::size_t count) {
            return part_of(make(), first, count);
          }};
}

List variables(NumberedSession& debuggee, const ThreadFrame& frame, Format format) {
  List list;
  Inspector& inspector = debuggee.inspector();
  for (auto some : {&Inspector::arguments, &Inspector::locals}) {
    for (const Inspector::Shown& each : (inspector.*some)(at_of(frame), format)) {
      list.push_back(shown(debuggee, frame, each, format));
    }
  }
  const std::string missing = inspector.missing_variables();
  if (!missing.empty()) list.push_back({.name = "(not known)", .value = missing});
  return list;
}

List globals(NumberedSession& debuggee, const ThreadFrame& frame, Format format) {
  List list;
  for (const Inspector::Shown& each : debuggee.inspector().globals(at_of(frame), format)) {
    list.push_back(shown(debuggee, frame, each, format));
  }
  return list;
}

List registers(NumberedSession& debuggee, const ThreadFrame& frame, Format format) {
  List list;
  const std::vector<debug::Register> all =
      debuggee.stopped_session().registers(frame.thread, frame.physical);
  const std::vector<bool> are_written = debuggee.inspector().are_written(all, at_of(frame));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const debug::Register& each = all[i];
    list.push_back({.name = each.name,
                    .value = are_written[i] ? register_text(each, format) : "<not written>",
                    .type = each.type,
                    .expression = each.name});
  }
  return list;
}

// "0-2: 1, 3: 4": lanes with equal texts in a row are one.
std::string side_by_side(const std::array<Inspector::LaneValue, kLanes>& lanes) {
  std::string text;
  for (std::size_t first = 0; first < kLanes;) {
    std::size_t end = first + 1;
    while (end < kLanes && lanes[end].text == lanes[first].text) ++end;
    if (!lanes[first].text.empty()) {
      text += fmt::format("{}{}{}: {}", text.empty() ? "" : ", ", first,
                          end - first == 1 ? "" : fmt::format("-{}", end - 1), lanes[first].text);
    }
    first = end;
  }
  return text;
}

ShownVariable over_lanes(NumberedSession& debuggee, const ThreadFrame& frame,
                         const ShownVariable& variable, Format format) {
  const auto lanes = debuggee.inspector().lanes(variable.expression, at_of(frame), format);
  std::vector<ShownVariable> members;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const Inspector::LaneValue& each = lanes[lane];
    if (each.text.empty() && each.note.empty()) continue;
    const std::string separator = each.text.empty() || each.note.empty() ? "" : ", ";
    members.push_back(
        {.name = fmt::format("lane {}", lane), .value = each.text + separator + each.note});
  }
  return with_members({.name = variable.name, .value = side_by_side(lanes)}, std::move(members));
}

List lanes(NumberedSession& debuggee, const ThreadFrame& frame, Format format) {
  List list;
  const auto add = [&](const List& of_thread) {
    for (const ShownVariable& each : of_thread) {
      if (!each.expression.empty()) list.push_back(over_lanes(debuggee, frame, each, format));
    }
  };
  add(variables(debuggee, frame, format));
  // Without -G most of what a program computes is in registers alone.
  if (!debuggee.inspector().missing_variables().empty()) add(registers(debuggee, frame, format));
  return list;
}

ShownVariable extents(const char* name, const Dim3& at) {
  std::vector<ShownVariable> members;
  for (const auto& [axis, value] : {std::pair{"x", at.x}, {"y", at.y}, {"z", at.z}}) {
    members.push_back({.name = axis,
                       .value = fmt::format("{}", value),
                       .type = "unsigned int",
                       .expression = fmt::format("{}.{}", name, axis)});
  }
  return with_members({.name = name, .value = triple(at), .expression = name}, std::move(members));
}

List launch(const debug::Stop& stop, const ThreadFrame& frame) {
  const std::uint32_t linear = stop.block.linear(frame.thread.thread);
  const auto number = [](const char* name, std::uint64_t value) {
    return ShownVariable{.name = name, .value = fmt::format("{}", value)};
  };
  return {extents("threadIdx", frame.thread.thread),
          extents("blockIdx", frame.thread.block),
          extents("blockDim", stop.block),
          extents("gridDim", stop.grid),
          number("lane", linear % kLanes),
          number("warp", linear / kLanes),
          number("launch", stop.launch),
          {.name = "kernel", .value = stop.kernel},
          number("position", stop.position)};
}

List findings(debug::DebugSession& session) {
  List list;
  for (const debug::FoundFinding& each : session.findings()) {
    List members;
    for (const std::string& line : finding_lines(each)) {
      members.push_back({.name = fmt::format("{}", members.size() + 1), .value = line});
    }
    list.push_back(with_members({.name = fmt::format("finding {}", each.index + 1),
                                 .value = vgpu::headline_of(each.finding)},
                                std::move(members)));
  }
  return list;
}

}  // namespace

ShownVariable shown(NumberedSession& debuggee, const ThreadFrame& frame,
                    const Inspector::Shown& value, Format format) {
  ShownVariable variable{.name = value.value.name,
                         .value = value.text,
                         .type = value.type,
                         .count = value.children,
                         .members = {},
                         .is_indexed = false,
                         .expression = value.value.expression};
  if (value.children == 0) return variable;
  variable.is_indexed = value.value.value.type != nullptr &&
                        debug::stripped(*value.value.value.type).kind == debug::Type::Kind::array;
  variable.members = [&debuggee, frame, parent = value.value, format](std::size_t first,
                                                                      std::size_t count) {
    std::vector<ShownVariable> members;
    for (const Inspector::Shown& each :
         debuggee.inspector().children(parent, at_of(frame), first, count, format)) {
      members.push_back(shown(debuggee, frame, each, format));
    }
    return members;
  };
  return variable;
}

std::string register_text(const debug::Register& value, Format format) {
  const auto text = [&]() -> std::string {
    const unsigned bits = value.bytes * 8;
    if (value.type == "pred") return value.bits != 0 ? "true" : "false";
    const std::string hex = fmt::format("0x{:x}", value.bits);
    if (format == Format::hex) return hex;
    if (value.type == "f32") {
      return fmt::format("{} ({})", std::bit_cast<float>(static_cast<std::uint32_t>(value.bits)),
                         hex);
    }
    if (value.type == "f64") return fmt::format("{} ({})", std::bit_cast<double>(value.bits), hex);
    if (value.type.starts_with('s') && bits <= 64) {
      const auto number = static_cast<std::int64_t>(value.bits << (64 - bits)) >> (64 - bits);
      return fmt::format("{} ({})", number, hex);
    }
    return fmt::format("{} ({})", value.bits, hex);
  }();
  return value.undefined_bits == 0 ? text : text + ", from what was never written";
}

std::vector<FrameScope> scopes_of(NumberedSession& debuggee, const ThreadFrame& frame,
                                  Format format) {
  const auto of_frame = [&debuggee, frame, format](auto make) {
    return [&debuggee, frame, format, make] { return make(debuggee, frame, format); };
  };
  return {
      scope("Variables", "locals", false, of_frame(variables)),
      scope("Registers", "registers", true, of_frame(registers)),
      scope("Lanes", "", true, of_frame(lanes)),
      scope("Launch", "", false,
            [&debuggee, frame] { return launch(debuggee.stopped_session().stop(), frame); }),
      scope("Globals", "", true, of_frame(globals)),
      scope("Findings", "", false, [&debuggee] { return findings(debuggee.stopped_session()); })};
}

}  // namespace warpcheck::dap
