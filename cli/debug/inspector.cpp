#include "cli/debug/inspector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/debug/session_thread.hpp"
#include "cli/debug/variables/expression.hpp"
#include "cli/debug/variables/frame_variables.hpp"
#include "cli/debug/variables/module_description.hpp"

namespace warpcheck::debug {
namespace {

constexpr std::uint32_t kLanes = 32;

// Calls a function of the variables' library, whose errors become the session's.
template <typename Function>
auto with_debug_errors(const Function& function) {
  try {
    return function();
  } catch (const ExpressionError& error) {
    throw DebugError(error.what());
  } catch (const DebugInfoError& error) {
    throw DebugError(error.what());
  } catch (const Unreadable& error) {
    throw DebugError(error.what());
  }
}

std::uint32_t linear_of(const Dim3& thread, const Dim3& block) {
  return thread.x + block.x * (thread.y + block.y * thread.z);
}

Dim3 thread_of(std::uint32_t linear, const Dim3& block) {
  const std::uint32_t row = linear / std::max(block.x, 1u);
  return {linear % std::max(block.x, 1u), row % std::max(block.y, 1u), row / std::max(block.y, 1u)};
}

// A frame of a thread with its variables.
struct FrameAt {
  FrameAt(DebugSession& session, const ModuleDescription& module, const Inspector::At& at)
      : thread(session, at.thread, at.frame),
        variables(module, thread, thread.inlined(), !thread.frame().is_inlined) {}
  SessionThread thread;
  FrameVariables variables;
};

// Gives an array of unknown length, as of dynamic shared memory, the elements that are there.
void find_length(Value& value, const FrameAt& frame) {
  const Type& type = stripped(value.type);
  const bool is_open = type.kind == Type::Kind::array && type.count == 0 &&
                       value.place == Value::Place::memory && stripped(type.target).bytes != 0;
  if (!is_open) return;
  const std::uint64_t count =
      frame.thread.readable_bytes(value.address) / stripped(type.target).bytes;
  if (count == 0) return;
  value.type = &frame.variables.module().basic_types().array_of(*type.target, count);
}

Inspector::Shown shown(NamedValue value, const FrameAt& frame, Format format) {
  find_length(value.value, frame);
  const ThreadView& thread = frame.thread;
  Inspector::Shown result;
  result.type = value.value.type->name;
  result.text = text_of(value.value, thread, format);
  result.children = child_count(value.value);
  result.value = std::move(value);
  return result;
}

}  // namespace

class Inspector::Impl {
 public:
  explicit Impl(DebugSession& session) : session_(session) {}

  // Describes the module of the kernel that runs.
  const ModuleDescription& module() { return module_at(session_.stop()); }
  const ModuleDescription& module_at(const Stop& stop);

  template <typename List>
  std::vector<Shown> list(const At& at, Format format, const List& list_of) {
    return with_debug_errors([&] {
      const FrameAt frame(session_, module(), at);
      std::vector<Shown> all;
      for (NamedValue& each : list_of(frame)) {
        all.push_back(shown(std::move(each), frame, format));
      }
      return all;
    });
  }

  bool holds(const std::string& text, std::map<const ModuleDescription*, Expression>& compiled,
             const Stop& stop);
  LaneValue lane_value(const Expression& expression, const LaneGroup& group, const At& at,
                       const CodeLocation& focus, Format format);

  DebugSession& session_;
  std::string note;
  std::uint64_t noted_at = 0;

 private:
  // Texts that are equal share a description; a launch keeps its text.
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<ModuleDescription>> modules_;
  std::map<std::uint32_t, const ModuleDescription*> of_launch_;
};

const ModuleDescription& Inspector::Impl::module_at(const Stop& stop) {
  if (!stop.has_location) throw DebugError("no kernel runs here, so there are no variables");
  const ModuleDescription*& known = of_launch_[stop.launch];
  if (known != nullptr) return *known;
  const KernelText& text = session_.kernel_text();
  auto& module = modules_[{text.name, std::hash<std::string>{}(text.ptx)}];
  if (!module) module = std::make_unique<ModuleDescription>(text.ptx, text.name);
  known = module.get();
  return *known;
}

Inspector::Inspector(DebugSession& session) : impl_(std::make_unique<Impl>(session)) {}
Inspector::~Inspector() = default;

Inspector::Shown Inspector::evaluate(std::string_view expression, const At& at, Format format) {
  return with_debug_errors([&] {
    const ModuleDescription& module = impl_->module();
    const FrameAt frame(impl_->session_, module, at);
    const Expression parsed(expression, module);
    const std::string text(expression);
    return shown({text, text, parsed.evaluate(frame.variables)}, frame, format);
  });
}

std::vector<Inspector::Shown> Inspector::arguments(const At& at, Format format) {
  return impl_->list(at, format, [](const FrameAt& frame) { return frame.variables.arguments(); });
}

std::vector<Inspector::Shown> Inspector::locals(const At& at, Format format) {
  return impl_->list(at, format, [](const FrameAt& frame) { return frame.variables.locals(); });
}

std::vector<Inspector::Shown> Inspector::globals(const At& at, Format format) {
  return impl_->list(at, format, [](const FrameAt& frame) { return frame.variables.globals(); });
}

std::vector<Inspector::Shown> Inspector::children(const NamedValue& parent, const At& at,
                                                  std::size_t first, std::size_t count,
                                                  Format format) {
  return impl_->list(at, format, [&](const FrameAt& frame) {
    return children_of(parent, frame.thread, first, count);
  });
}

std::string Inspector::declaration(std::string_view expression_or_type, const At& at) {
  return with_debug_errors([&] {
    const ModuleDescription& module = impl_->module();
    const Type* type = parse_type(expression_or_type, module);
    if (type == nullptr) {
      const FrameAt frame(impl_->session_, module, at);
      type = Expression(expression_or_type, module).evaluate(frame.variables).type;
    }
    // Of a pointer to a structure, the structure is what one wants to know.
    std::string stars;
    while (stripped(type).kind == Type::Kind::pointer &&
           !stripped(stripped(type).target).members.empty()) {
      stars += '*';
      type = stripped(type).target;
    }
    return declaration_of(*type) + stars;
  });
}

namespace {

// Throws where an expression has no place in memory.
void require_memory(const Value& value, std::string_view expression) {
  if (value.place == Value::Place::absent) {
    throw DebugError(fmt::format("`{}` has no value: {}", expression, value.reason));
  }
  if (value.place == Value::Place::bits) {
    const std::string where =
        value.register_name.empty() ? "no variable" : "in the register " + value.register_name;
    throw DebugError(fmt::format("`{}` is {}, not in memory", expression, where));
  }
}

}  // namespace

Inspector::Range Inspector::range_of(std::string_view expression, const At& at) {
  return with_debug_errors([&] {
    const ModuleDescription& module = impl_->module();
    const FrameAt frame(impl_->session_, module, at);
    const Value value =
        referred(Expression(expression, module).evaluate(frame.variables), frame.thread);
    require_memory(value, expression);
    const std::uint64_t bytes = stripped(value.type).bytes;
    if (bytes == 0) throw DebugError(fmt::format("the size of `{}` is not known", expression));
    return Range{frame.thread.place_of(value.address), bytes, value};
  });
}

Place Inspector::place_of(std::string_view expression, const At& at) {
  return with_debug_errors([&] {
    const ModuleDescription& module = impl_->module();
    const FrameAt frame(impl_->session_, module, at);
    const Value value =
        referred(Expression(expression, module).evaluate(frame.variables), frame.thread);
    if (stripped(value.type).kind != Type::Kind::pointer) {
      require_memory(value, expression);
      return frame.thread.place_of(value.address);
    }
    const Value target = pointed_at(value, frame.thread);
    if (target.place == Value::Place::absent) {
      throw DebugError(fmt::format("`{}`: {}", expression, target.reason));
    }
    return frame.thread.place_of(target.address);
  });
}

std::vector<bool> Inspector::are_written(const std::vector<Register>& registers, const At& at) {
  return with_debug_errors([&] {
    const ModuleDescription& module = impl_->module();
    const SessionThread thread(impl_->session_, at.thread, at.frame);
    std::vector<bool> are;
    for (const Register& each : registers) {
      const std::optional<RegisterBits> bits = module.register_bits(thread, each.name);
      are.push_back(!bits || bits->unwritten != ~std::uint64_t{0});
    }
    return are;
  });
}

std::string Inspector::text_of_bytes(const Value& value, const std::vector<std::byte>& bytes,
                                     const std::vector<std::uint8_t>& unwritten, const At& at) {
  return with_debug_errors([&] {
    const SessionThread thread(impl_->session_, at.thread, at.frame);
    Value held = value;
    held.place = Value::Place::bits;
    held.bytes = bytes;
    held.unwritten = unwritten;
    return text_of(held, thread, Format::natural);
  });
}

Inspector::LaneValue Inspector::Impl::lane_value(const Expression& expression,
                                                 const LaneGroup& group, const At& at,
                                                 const CodeLocation& focus, Format format) {
  if (group.state.kind == LaneState::Kind::exited) return {"", "has left the kernel"};
  LaneValue lane;
  try {
    const FrameAt frame(session_, module(), at);
    const CodeLocation& place = frame.thread.frame().at;
    if (place.linkage_name != focus.linkage_name) {
      return {"", fmt::format("is in another function, at {}:{}", place.file, place.line)};
    }
    if (place.line != focus.line) lane.note = fmt::format("at line {}", place.line);
    lane.text = text_of(expression.evaluate(frame.variables), frame.thread, format);
  } catch (const ExpressionError& error) {
    return {"", error.what()};
  }
  return lane;
}

std::array<Inspector::LaneValue, kLanes> Inspector::lanes(std::string_view expression, const At& at,
                                                          Format format) {
  return with_debug_errors([&] {
    std::array<LaneValue, kLanes> lanes;
    for (LaneValue& lane : lanes) lane.note = "does not exist";
    const Expression parsed(expression, impl_->module());
    const Dim3 block = impl_->session_.stop().block;
    const std::uint32_t warp = linear_of(at.thread.thread, block) / kLanes;
    const CodeLocation focus = SessionThread(impl_->session_, at.thread, at.frame).frame().at;
    for (const BlockState& resident : impl_->session_.blocks()) {
      if (!(resident.block == at.thread.block)) continue;
      for (const WarpState& state : resident.warps) {
        if (state.warp != warp) continue;
        for (const LaneGroup& group : state.groups) {
          for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            if ((group.lanes >> lane & 1) == 0) continue;
            At there = at;
            there.thread.thread = thread_of(warp * kLanes + lane, block);
            lanes[lane] = impl_->lane_value(parsed, group, there, focus, format);
          }
        }
      }
    }
    return lanes;
  });
}

bool Inspector::Impl::holds(const std::string& text,
                            std::map<const ModuleDescription*, Expression>& compiled,
                            const Stop& stop) {
  note.clear();
  try {
    const ModuleDescription& here = module_at(stop);
    auto known = compiled.find(&here);
    if (known == compiled.end()) known = compiled.emplace(&here, Expression(text, here)).first;
    const FrameAt frame(session_, here, {stop.focus, user_frame(session_, stop.focus)});
    return known->second.is_true(frame.variables);
  } catch (const std::runtime_error& error) {
    note = fmt::format("the condition `{}` has no value here: {}", text, error.what());
    noted_at = stop.position;
    return true;
  }
}

std::function<bool(const Stop&)> Inspector::condition(std::string_view expression) {
  const std::string text(expression);
  if (impl_->session_.stop().has_location) {
    with_debug_errors([&] { return Expression(text, impl_->module()).text(); });
  }
  auto compiled = std::make_shared<std::map<const ModuleDescription*, Expression>>();
  return [impl = impl_.get(), text, compiled](const Stop& stop) {
    return impl->holds(text, *compiled, stop);
  };
}

std::string Inspector::note_of_condition() const {
  return impl_->session_.stop().position == impl_->noted_at ? impl_->note : std::string();
}

std::string Inspector::missing_variables() {
  const ModuleDescription& module = impl_->module();
  if (!module.problem().empty()) return module.problem();
  if (module.debug_info() != nullptr) return "";
  return "the code is optimised, and describes no variables; --build unoptimized does";
}

}  // namespace warpcheck::debug
