#include "cli/debug/dap/variable_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "cli/debug/dap/memory_requests.hpp"
#include "cli/debug/dap/scopes.hpp"

namespace warpcheck::dap {
namespace {

using debug::Format;
using debug::Inspector;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
// Of a client that does not ask for parts: an array may have a million elements.
constexpr std::size_t kMembersMax = 1000;

Format format_of(const Arguments& arguments) {
  const std::optional<Arguments> format = arguments.object_if("format");
  return format && format->flag_or("hex", false) ? Format::hex : Format::natural;
}

ThreadFrame frame_in(NumberedSession& debuggee, const Arguments& arguments) {
  const bool is_named = arguments.has("frameId") && arguments.integer("frameId") != 0;
  return is_named ? debuggee.frame_of(arguments.integer("frameId")) : debuggee.focus_frame();
}

// The place of an expression; nothing: it is a register's value, or has none.
std::optional<Inspector::Range> range_of(NumberedSession& debuggee, const ThreadFrame& frame,
                                         const std::string& expression) {
  if (expression.empty()) return std::nullopt;
  try {
    return debuggee.inspector().range_of(expression, at_of(frame));
  } catch (const debug::DebugError&) {
    return std::nullopt;
  }
}

// What `variables` and `evaluate` say of a value, beside its text.
void describe(Json& json, NumberedSession& debuggee, const ThreadFrame& frame,
              const ShownVariable& variable) {
  if (!variable.type.empty()) json["type"] = variable.type;
  json["variablesReference"] =
      debuggee.add_group({frame, variable.members, variable.members ? variable.count : 0});
  if (variable.count != 0) {
    json[variable.is_indexed ? "indexedVariables" : "namedVariables"] = variable.count;
  }
  if (const auto range = range_of(debuggee, frame, variable.expression)) {
    json["memoryReference"] = memory_reference(range->place);
  }
}

Answer scopes(NumberedSession& debuggee, const Arguments& arguments) {
  static_cast<void>(debuggee.stopped_session());
  const ThreadFrame frame = debuggee.frame_of(arguments.integer("frameId"));
  Json list = Json::array();
  for (FrameScope& each : scopes_of(debuggee, frame, Format::natural)) {
    Json scope = {{"name", each.name}};
    if (!each.hint.empty()) scope["presentationHint"] = each.hint;
    scope["variablesReference"] = debuggee.add_group({frame, std::move(each.variables), kAll});
    scope["expensive"] = each.is_expensive;
    list.push_back(std::move(scope));
  }
  return Json{{"scopes", std::move(list)}};
}

Answer variables(NumberedSession& debuggee, const Arguments& arguments) {
  static_cast<void>(debuggee.stopped_session());
  const NumberedSession::Group group = debuggee.group_of(arguments.integer("variablesReference"));
  const auto first =
      static_cast<std::size_t>(std::max<std::int64_t>(arguments.integer_or("start", 0), 0));
  const auto wanted =
      static_cast<std::size_t>(std::max<std::int64_t>(arguments.integer_or("count", 0), 0));
  const std::size_t count = wanted == 0 ? kMembersMax : wanted;
  Json list = Json::array();
  for (const ShownVariable& each : group.members(first, count)) {
    Json variable = {{"name", each.name}, {"value", each.value}};
    if (!each.expression.empty()) variable["evaluateName"] = each.expression;
    describe(variable, debuggee, group.frame, each);
    list.push_back(std::move(variable));
  }
  if (wanted == 0 && group.count != kAll && group.count > first + count) {
    list.push_back({{"name", "..."},
                    {"value", fmt::format("{} more", group.count - first - count)},
                    {"variablesReference", 0}});
  }
  return Json{{"variables", std::move(list)}};
}

Answer evaluate(NumberedSession& debuggee, const Arguments& arguments) {
  const std::string expression = arguments.text("expression");
  const ThreadFrame frame = frame_in(debuggee, arguments);
  const Format format = format_of(arguments);
  const ShownVariable value = shown(
      debuggee, frame, debuggee.inspector().evaluate(expression, at_of(frame), format), format);
  Json body = {{"result", value.value}};
  describe(body, debuggee, frame, value);
  return body;
}

// The expression of a member by its name.
std::string expression_of(NumberedSession& debuggee, std::int64_t number, const std::string& name) {
  const NumberedSession::Group& group = debuggee.group_of(number);
  std::size_t first = 0, count = kMembersMax;
  if (name.starts_with('[')) {
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), first);
    if (error == std::errc{}) count = 1;
  }
  for (const ShownVariable& each : Members(group.members)(first, count)) {
    if (each.name == name) return each.expression;
  }
  return "";
}

Inspector::Range range_of_address(NumberedSession& debuggee, const Arguments& arguments) {
  const std::string name = arguments.text("name");
  std::uint64_t address = 0;
  const bool is_hex = name.starts_with("0x");
  const char* const end = name.data() + name.size();
  const auto [rest, error] =
      std::from_chars(name.data() + (is_hex ? 2 : 0), end, address, is_hex ? 16 : 10);
  if (error != std::errc{} || rest != end) arguments.refuse("name", "an address");
  const debug::Thread thread = debuggee.focus_frame().thread;
  const std::int64_t bytes = arguments.integer_or("bytes", 1);
  if (bytes <= 0) arguments.refuse("bytes", "a number above 0");
  return {debuggee.stopped_session().resolve(thread, address), static_cast<std::uint64_t>(bytes)};
}

Answer data_breakpoint_info(NumberedSession& debuggee, const Arguments& arguments) {
  const std::string name = arguments.text("name");
  Json none = {{"dataId", nullptr}};
  try {
    Inspector::Range range;
    std::string what = name;
    if (arguments.flag_or("asAddress", false)) {
      range = range_of_address(debuggee, arguments);
    } else {
      ThreadFrame frame;
      if (arguments.has("variablesReference")) {
        const std::int64_t number = arguments.integer("variablesReference");
        what = expression_of(debuggee, number, name);
        frame = debuggee.group_of(number).frame;
      } else {
        frame = frame_in(debuggee, arguments);
      }
      if (what.empty()) {
        none["description"] = name + " is not in memory, so no access to it can be seen";
        return none;
      }
      range = debuggee.inspector().range_of(what, at_of(frame));
      if (arguments.has("bytes")) {
        range.bytes =
            static_cast<std::uint64_t>(std::max<std::int64_t>(arguments.integer("bytes"), 1));
      }
    }
    std::string id = fmt::format("{}/{}", memory_reference(range.place), range.bytes);
    // A part of a value, or several, are bytes.
    const debug::Type* const type = range.value.type;
    if (type != nullptr && debug::stripped(type).bytes == range.bytes) {
      id += "/" + what;  // the same bytes may be watched as two members of a union
      debuggee.note_watched(id, {what, range.value});
    }
    return Json{{"dataId", id},
                {"description", fmt::format("{}, {} bytes", what, range.bytes)},
                {"accessTypes", {"read", "write", "readWrite"}}};
  } catch (const debug::DebugError& error) {
    none["description"] = error.what();
    return none;
  }
}

Answer refuse_change(const Arguments&) {
  throw RequestError("values cannot be changed: going back repeats the run as it was");
}

}  // namespace

void add_variable_requests(Handlers& handlers, NumberedSession& debuggee) {
  const auto add = [&](const char* name, Answer (*perform)(NumberedSession&, const Arguments&)) {
    handlers[name] = [&debuggee, perform](const Arguments& arguments) {
      return perform(debuggee, arguments);
    };
  };
  add("scopes", scopes);
  add("variables", variables);
  add("evaluate", evaluate);
  add("dataBreakpointInfo", data_breakpoint_info);
  for (const char* name : {"setVariable", "setExpression", "writeMemory"}) {
    handlers[name] = refuse_change;
  }
}

}  // namespace warpcheck::dap
