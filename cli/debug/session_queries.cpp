// What a session tells of the state at a stop.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <utility>

#include "cli/debug/session_impl.hpp"
#include "cli/debug/variables/debug_info.hpp"
#include "vgpu/cudart/exec/exec_records.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/text_parts.hpp"

namespace warpcheck::debug {
namespace {

using nlohmann::json;

Dim3 dim3_of(const json& text) {
  return {text.at(0).get<std::uint32_t>(), text.at(1).get<std::uint32_t>(),
          text.at(2).get<std::uint32_t>()};
}

Space space_named(const std::string& name) {
  if (name == "shared") return Space::shared;
  if (name == "local") return Space::local;
  if (name == "constant") return Space::constant;
  return name == "parameter" ? Space::parameter : Space::global;
}

std::uint8_t byte_at(const std::string& hex, std::size_t index) {
  std::uint8_t value = 0;
  std::from_chars(hex.data() + 2 * index, hex.data() + 2 * index + 2, value, 16);
  return value;
}

CodeLocation location_of(const json& text, const std::vector<std::string>& files) {
  CodeLocation at;
  const int file = text.at(0);
  if (file >= 0 && static_cast<std::size_t>(file) < files.size()) {
    at.file = files[static_cast<std::size_t>(file)];
  }
  at.line = text.at(1);
  at.column = text.at(2);
  return at;
}

LaneState::Kind kind_of(const std::string& name) {
  if (name == "barrier") return LaneState::Kind::at_barrier;
  if (name == "warp_operation") return LaneState::Kind::at_warp_operation;
  return name == "cluster_barrier" ? LaneState::Kind::at_cluster_barrier : LaneState::Kind::ready;
}

json inlined_calls_of(const std::string& text, const std::string& name) {
  json calls = json::array();
  try {
    for (const InlinedCode& each : DebugInfo(text, name).inlined_code()) {
      calls.push_back({{"first_line", each.first_line},
                       {"end_line", each.end_line},
                       {"function", each.function},
                       {"file", each.call_file},
                       {"line", each.call_line}});
    }
  } catch (const DebugInfoError&) {
    return json::array();
  }
  return calls;
}

}  // namespace

const char* name_of(Space space) {
  switch (space) {
    case Space::shared: return "shared";
    case Space::local: return "local";
    case Space::constant: return "constant";
    case Space::parameter: return "parameter";
    case Space::global: break;
  }
  return "global";
}

KnownKernel& DebugSession::Impl::kernel(std::uint32_t number) {
  if (const auto known = kernels.find(number); known != kernels.end()) return known->second;
  const json text = debuggee.ask(here(), {{"do", "program"}, {"number", number}});
  KnownKernel kernel;
  kernel.text.name = text.at("name");
  kernel.text.ptx = text.at("ptx");
  const std::size_t directive = kernel.text.ptx.find(".target");
  const std::size_t line_end = kernel.text.ptx.find('\n', directive);
  kernel.text.is_debug =
      directive != std::string::npos &&
      kernel.text.ptx.substr(directive, line_end - directive).find("debug") != std::string::npos;
  kernel.text.files = text.at("files").get<std::vector<std::string>>();
  struct Function {
    std::string name, readable;
    std::uint32_t entry = 0;
  };
  std::vector<Function> functions;
  for (const json& each : text.at("functions")) {
    const std::string name = each.at("name");
    functions.push_back({name, vgpu::kernel_name(name), each.at("entry")});
  }
  std::vector<std::string> inlined;
  for (const json& each : text.at("inlined_functions")) {
    const std::string name = each;
    inlined.push_back(name.empty() ? "" : vgpu::kernel_name(name));
  }
  std::uint32_t pc = 0, function = 0;
  for (const json& each : text.at("code")) {
    while (function + 1 < functions.size() && functions[function + 1].entry <= pc) ++function;
    CodeLocation at = location_of(each.at("user"), kernel.text.files);
    at.function = functions.empty() ? "" : functions[function].readable;
    at.linkage_name = functions.empty() ? "" : functions[function].name;
    at.pc = pc++;
    at.ptx_line = each.at("ptx_line");
    at.instruction = each.at("text");
    std::vector<CodeLocation> chain;
    for (const json& link : each.at("chain")) {
      CodeLocation outer = location_of(link, kernel.text.files);
      outer.pc = at.pc;
      outer.ptx_line = at.ptx_line;
      outer.instruction = at.instruction;
      outer.linkage_name = at.linkage_name;
      const int name = link.at(3);
      if (name >= 0) outer.function = inlined.at(static_cast<std::size_t>(name));
      chain.push_back(std::move(outer));
    }
    kernel.chains.push_back(std::move(chain));
    kernel.text.instructions.push_back({std::move(at), function});
  }
  return kernels.emplace(number, std::move(kernel)).first->second;
}

// Damaged debug information gives no calls; a command that needs it reports that it is damaged.
void DebugSession::Impl::send_inlined_calls(Process& process, std::uint32_t number) {
  try {
    const json answer = debuggee.ask(process, {{"do", "text"}, {"number", number}});
    const std::string& text = answer.at("ptx").get_ref<const std::string&>();
    const auto [known, is_new] =
        inlined_calls.try_emplace(std::hash<std::string>{}(text), json::array());
    if (is_new) known->second = inlined_calls_of(text, answer.at("name"));
    debuggee.send(process, {{"do", "learn"}, {"program", number}, {"inlined", known->second}});
  } catch (const DebugError&) {
    // The process has ended; what waits for it reports that.
  }
}

json DebugSession::Impl::question(const char* what, const Thread& thread) {
  if (place.is_null()) throw DebugError("no kernel is running");
  const Linear linear = linear_of(thread);
  return {{"do", what}, {"block", linear.block}, {"thread", linear.thread}};
}

DebugSession::Impl::Linear DebugSession::Impl::linear_of(const Thread& thread) const {
  return {grid.linear(thread.block), block.linear(thread.thread)};
}

Thread DebugSession::Impl::thread_of(std::uint32_t of_block, std::uint32_t thread) const {
  return {grid.position_of(of_block), block.position_of(thread)};
}

void DebugSession::Impl::keep_focus(const Thread& focus) {
  if (place.is_null()) return;
  const Linear linear = linear_of(focus);
  const bool is_there = linear.block == place.at("block") &&
                        linear.thread / kWarpLanes == stop.warp &&
                        (stop.together >> linear.thread % kWarpLanes & 1u) != 0;
  if (is_there) stop.focus = focus;
}

// The focus stays if its warp is the one that is about to run, and its lane takes part.
void DebugSession::Impl::set_location(const json& text) {
  place = text;
  program = text.at("program");
  stop.has_location = true;
  stop.launch = text.at("launch");
  stop.grid = grid = dim3_of(text.at("grid"));
  stop.block = block = dim3_of(text.at("block_extents"));
  stop.warp = text.at("warp");
  stop.together = text.at("together");
  stop.active = text.at("active");
  const Thread before = stop.focus;
  const std::uint32_t lanes = stop.active != 0 ? stop.active : stop.together;
  stop.focus = thread_of(text.at("block"), stop.warp * kWarpLanes +
                                               static_cast<std::uint32_t>(std::countr_zero(lanes)));
  keep_focus(before);
  const KnownKernel& known = kernel(program);
  stop.kernel = vgpu::short_kernel_name(vgpu::kernel_name(known.text.name));
  stop.at = known.text.instructions.at(text.at("pc").get<std::size_t>()).at;
}

void DebugSession::Impl::found(const json& message) {
  if (message.at("index").get<std::size_t>() != findings.size()) return;  // known
  const cudart::ExecRecord record =
      cudart::parse_exec_record(message.at("record").get<std::string>());
  const auto* const what = std::get_if<cudart::FindingRecord>(&record.what);
  if (what == nullptr) throw DebugError("the debuggee sent a finding that cannot be read");
  FoundFinding finding{
      .index = findings.size(), .finding = what->finding, .position = message.at("position")};
  for (const json& side : message.at("sides")) {
    finding.side_positions.push_back(side.at("position"));
  }
  findings.push_back(std::move(finding));
  sides.push_back(message.at("sides"));
}

std::vector<Frame> DebugSession::frames(const Thread& thread) {
  const json answer = impl_->debuggee.ask(impl_->here(), impl_->question("frames", thread));
  const KnownKernel& kernel = impl_->kernel(impl_->program);
  std::vector<Frame> frames;
  for (std::uint32_t physical = 0; physical < answer.size(); ++physical) {
    const std::uint32_t pc = answer[physical].at("pc");
    const std::vector<CodeLocation>& chain = kernel.chains.at(pc);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      Frame frame{.at = chain[i],
                  .is_inlined = i + 1 < chain.size(),
                  .physical = physical,
                  .local_base = answer[physical].at("local_base")};
      if (!frame.is_inlined) frame.at.function = kernel.text.instructions[pc].at.function;
      frames.push_back(std::move(frame));
    }
  }
  return frames;
}

std::vector<Register> DebugSession::registers(const Thread& thread, std::uint32_t physical) {
  json question = impl_->question("registers", thread);
  question["frame"] = physical;
  std::vector<Register> registers;
  for (const json& each : impl_->debuggee.ask(impl_->here(), question)) {
    registers.push_back({.name = each.at("name"),
                         .type = each.at("type"),
                         .bytes = each.at("bytes"),
                         .bits = each.at("bits"),
                         .undefined_bits = each.at("undefined")});
  }
  return registers;
}

std::optional<Register> DebugSession::register_of(const Thread& thread, std::string_view name,
                                                  std::uint32_t physical) {
  const std::vector<Register> all = registers(thread, physical);
  const auto found = std::ranges::find(all, name, &Register::name);
  if (found == all.end()) return std::nullopt;
  return *found;
}

Memory DebugSession::memory(const Place& place, std::uint64_t bytes) {
  json question = impl_->question("memory", place.thread);
  question["space"] = name_of(place.space);
  question["offset"] = place.offset;
  question["bytes"] = bytes;
  const json answer = impl_->debuggee.ask(impl_->here(), question);
  const std::string hex = answer.at("bytes"), undefined = answer.at("undefined");
  Memory memory;
  for (std::size_t i = 0; 2 * i < hex.size(); ++i) {
    memory.bytes.push_back(static_cast<std::byte>(byte_at(hex, i)));
    memory.unwritten.push_back(byte_at(undefined, i));
  }
  memory.why_short = answer.at("short");
  return memory;
}

Place DebugSession::resolve(const Thread& thread, std::uint64_t generic_address) {
  json question = impl_->question("resolve", thread);
  question["address"] = generic_address;
  const json answer = impl_->debuggee.ask(impl_->here(), question);
  Place place{space_named(answer.at("space")), answer.at("offset"), thread};
  // Shared memory of another block of the cluster.
  if (answer.contains("block")) {
    place.thread.block = impl_->stop.grid.position_of(answer["block"].get<std::uint32_t>());
  }
  return place;
}

std::string DebugSession::function_at(std::uint64_t address) {
  const bool is_code = vgpu::kFunctionBase <= address && address < vgpu::kFunctionEnd;
  if (!is_code || impl_->place.is_null()) return {};
  KnownKernel& kernel = impl_->kernel(impl_->program);
  if (kernel.functions_at.empty()) {
    const ptx::Module module = ptx::parse_parts(ptx::parts_of(kernel.text.ptx), kernel.text.name);
    for (const ptx::Function& each : module.functions) {
      kernel.functions_at.emplace(vgpu::function_address(each.name), vgpu::kernel_name(each.name));
    }
  }
  const auto found = kernel.functions_at.find(address);
  return found == kernel.functions_at.end() ? std::string() : found->second;
}

std::optional<Symbol> DebugSession::symbol(std::string_view name, const Thread& thread,
                                           std::uint32_t physical) {
  json question = impl_->question("symbol", thread);
  question["name"] = name;
  question["frame"] = physical;
  const json answer = impl_->debuggee.ask(impl_->here(), question);
  if (answer.is_null()) return std::nullopt;
  return Symbol{.name = std::string(name),
                .place = {space_named(answer.at("space")), answer.at("offset"), thread},
                .bytes = answer.at("bytes")};
}

std::vector<BlockState> DebugSession::blocks() {
  if (impl_->place.is_null()) return {};
  const json answer = impl_->debuggee.ask(impl_->here(), {{"do", "blocks"}});
  const KnownKernel& kernel = impl_->kernel(impl_->program);
  std::vector<BlockState> blocks;
  for (const json& each : answer) {
    BlockState block{.block = impl_->stop.grid.position_of(each.at("block").get<std::uint32_t>()),
                     .barriers_passed = each.at("phase")};
    for (const json& one : each.at("warps")) {
      WarpState warp{.warp = one.at("warp"), .lanes = one.at("lanes")};
      for (const json& part : one.at("fragments")) {
        LaneState state{.kind = kind_of(part.at("state")), .barrier = part.at("barrier")};
        state.at = kernel.text.instructions.at(part.at("pc").get<std::size_t>()).at;
        warp.groups.push_back({part.at("lanes"), std::move(state)});
      }
      const std::uint32_t exited = warp.lanes & ~one.at("live").get<std::uint32_t>();
      if (exited != 0) warp.groups.push_back({exited, {.kind = LaneState::Kind::exited}});
      block.warps.push_back(std::move(warp));
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<FoundFinding> DebugSession::findings() { return impl_->findings; }

const KernelText& DebugSession::kernel_text() {
  if (impl_->place.is_null()) throw DebugError("no kernel is running");
  return impl_->kernel(impl_->program).text;
}

std::vector<std::string> DebugSession::source_files() {
  std::set<std::string> files;
  for (const auto& [number, kernel] : impl_->kernels) {
    files.insert(kernel.text.files.begin(), kernel.text.files.end());
  }
  return {files.begin(), files.end()};
}

}  // namespace warpcheck::debug
