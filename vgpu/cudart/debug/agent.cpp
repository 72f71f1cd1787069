#include "vgpu/cudart/debug/agent.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/debug/inspection.hpp"
#include "vgpu/cudart/exec/exec_records.hpp"

namespace warpcheck::cudart {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Messages and checkpoints are looked for after so many steps.
constexpr std::uint64_t kLookEvery = 8'192;
// Checkpoints are so far apart, and take at most a twentieth of the time.
constexpr std::chrono::milliseconds kCheckpointEvery{60};
constexpr int kForkShare = 20;
constexpr int kEndedByDebugger = 137;

json dim3_json(const Dim3& at) { return json::array({at.x, at.y, at.z}); }

// The bytes of a rule's range after a store, as hexadecimal digits, as far as the values are known
// before it.
std::string bytes_after(const vgpu::Access& access, const StopRule& rule, std::uint32_t lanes,
                        std::string bytes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    for (std::uint32_t at = 0; at < access.bytes; ++at) {
      const std::byte* const row = access.values[at / access.element_bytes];
      const std::uint64_t place = StopRules::offset_of(access, lane) + at;
      if (row == nullptr || place < rule.offset || place >= rule.offset + rule.bytes) continue;
      const std::byte* const byte = row + lane * access.value_bytes + at % access.element_bytes;
      bytes.replace(2 * (place - rule.offset), 2, hex_of(byte, 1));
    }
  }
  return bytes;
}

// Returns whether a lane leaves the kernel with this instruction.
bool leaves(const vgpu::InstrStep& step, unsigned lane) {
  const vgpu::InstrKind kind = step.program->code[step.pc].kind;
  const bool is_end =
      kind == vgpu::InstrKind::exit ||
      (kind == vgpu::InstrKind::ret && step.warp->fragments[step.fragment].callers.empty());
  return is_end && (step.active >> lane & 1u) != 0;
}

// What a data breakpoint stops at.
//   memory: the answer to a question for the bytes of the rule, before the access
json data_of(const vgpu::Access& access, const StopRule& rule, std::uint32_t lanes,
             const json& memory) {
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  const std::string element = vgpu::describe_element(access, lane);
  json data{{"kind", access.kind == vgpu::AccessKind::read    ? "reads"
                     : access.kind == vgpu::AccessKind::write ? "writes"
                                                              : "updates"},
            {"object", element.substr(0, element.rfind(", "))},
            {"block", access.place.block},
            {"thread", access.place.warp * vgpu::kWarpLanes + lane},
            {"before", ""},
            {"unwritten", ""}};
  if (memory.at("bytes").get<std::string>().size() != 2 * std::size_t{rule.bytes}) return data;
  data["before"] = memory.at("bytes");
  data["unwritten"] = memory.at("undefined");
  if (access.kind == vgpu::AccessKind::write && access.element_bytes != 0) {
    data["after"] = bytes_after(access, rule, lanes, memory.at("bytes"));
  }
  return data;
}

}  // namespace

DebugAgent::DebugAgent(std::string path, std::function<void()> in_copy)
    : path_(std::move(path)), in_copy_(std::move(in_copy)), link_(path_), process_(::getpid()) {
  send({{"event", "hello"}, {"role", "process"}, {"pid", process_}, {"position", 0}});
  serve();
}

void DebugAgent::send(const json& message) {
  if (is_off_) return;
  if (!link_.send(message.dump(-1, ' ', false, json::error_handler_t::replace))) {
    std::_Exit(kEndedByDebugger);
  }
}

std::uint32_t DebugAgent::number_of(const vgpu::Program& program) {
  return numbers_.try_emplace(&program, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

void DebugAgent::on_step(const vgpu::InstrStep& step) {
  if (is_off_) return;
  ++position_;
  step_ = step;
  if (step.program != program_) {
    program_ = step.program;
    if (!rules_.knows(*program_)) learn(*program_);
    if (is_off_) return;
    rules_.enter(*program_);
  }
  if (position_ >= look_at_) look();
  if (is_off_) return;
  if (follow_ && follow_->has_left && !records_ && position_ != seen_) {
    return stop(stop_for("left"));
  }
  if (rules_.has_marks(step.pc) || follow_) consider(step);
  while (until_ == position_) stop(stop_for("position"));
}

// The debugger reads the debug information, and says which calls are inlined.
void DebugAgent::learn(const vgpu::Program& program) {
  const std::uint32_t number = number_of(program);
  if (program.ptx.find(".debug_info") == std::string_view::npos) {
    return rules_.set_inlined(program, {});
  }
  send({{"event", "debug_info"}, {"program", number}});
  serve();
}

// Called now and then.
void DebugAgent::look() {
  const auto now = Clock::now();
  if (now >= checkpoint_at_) make_checkpoint();
  if (!is_off_ && link_.has_line(0)) {
    const std::optional<std::string> line = link_.receive();
    if (!line) std::_Exit(kEndedByDebugger);
    stop(stop_for("pause"));
  }
  look_at_ = position_ + kLookEvery;
}

void DebugAgent::make_checkpoint() {
  const auto begin = Clock::now();
  const FilePlaces places = FilePlaces::now();
  const pid_t copy = fork_copy();
  if (copy == 0) return wait_as_checkpoint(places);
  const auto end = Clock::now();
  checkpoint_at_ = end + std::max<Clock::duration>(kCheckpointEvery, kForkShare * (end - begin));
  send({{"event", "checkpoint"}, {"position", position_}, {"made", copy > 0}});
}

// Returns in copies that run on from here.
void DebugAgent::wait_as_checkpoint(const FilePlaces& places) {
  is_copy_ = true;
  process_ = ::getpid();
  in_copy_();
  const auto hello = [this](const char* role) {
    link_ = MessageLink(path_);
    send({{"event", "hello"}, {"role", role}, {"pid", ::getpid()}, {"position", position_}});
  };
  hello("checkpoint");
  while (true) {
    if (!link_.receive()) std::_Exit(0);
    if (fork_copy() != 0) continue;
    process_ = ::getpid();
    in_copy_();
    places.open_again(-1);
    hello("copy");
    checkpoint_at_ = Clock::now() + kCheckpointEvery;
    return serve();
  }
}

void DebugAgent::stop(json message) {
  if (!is_copy_) std::fflush(stdout);  // the user sees what has been written so far
  message["last"] = last_;
  if (!last_hit_.empty()) message["hit"] = json::parse(last_hit_);
  if (follow_) {
    message["step_began"] = follow_->last;
    message["is_first_seen"] = follow_->is_last_first;
  }
  message["lines"] = rules_.lines();
  send(message);
  serve();
}

void DebugAgent::serve() {
  while (!is_off_) {
    const std::optional<std::string> line = link_.receive();
    if (!line) std::_Exit(is_copy_ ? 0 : kEndedByDebugger);
    const json question = json::parse(*line);
    const std::string what = question.at("do");
    if (what == "run") return begin_run(question);
    if (what == "pause") continue;
    if (what == "learn") {
      std::vector<InlinedCall> calls;
      for (const json& call : question.at("inlined")) {
        calls.push_back({call.at("first_line"), call.at("end_line"), call.at("function"),
                         call.at("file"), call.at("line")});
      }
      return rules_.set_inlined(program_of(question.at("program")), calls);
    }
    if (what == "free") {
      is_off_ = true;
      link_.close();
      return;
    }
    try {
      send({{"answer", answer_to(question)}});
    } catch (const NotThere& reason) {
      send({{"error", reason.what()}});
    }
  }
}

json DebugAgent::answer_to(const json& question) {
  const std::string what = question.at("do");
  if (what == "program") {
    const vgpu::Program& program = program_of(question.at("number"));
    return describe_program(program, rules_.lines_of(program));
  }
  if (what == "text") {
    const vgpu::Program& program = program_of(question.at("number"));
    return {{"name", program.kernel}, {"ptx", program.ptx}};
  }
  if (what == "lines") {
    rules_.set(question.at("rules"));
    return rules_.lines();
  }
  if (step_.launch == nullptr) throw NotThere("no kernel is running");
  if (what == "key") return key_of(question);
  return answer(question, ThreadStates(step_));
}

const vgpu::Program& DebugAgent::program_of(const json& number) const {
  for (const auto& [program, its_number] : numbers_) {
    if (its_number == number) return *program;
  }
  throw NotThere("no such kernel has run");
}

json DebugAgent::key_of(const json& question) {
  const FragmentPlace place =
      ThreadStates(step_).fragment_of({question.at("block"), question.at("thread")});
  const StepKey key = rules_.lines_of(*step_.program).key_of(*place.fragment, place.pc);
  return {{"program", number_of(*step_.program)},
          {"depth", key.depth},
          {"file", key.file},
          {"line", key.line},
          {"is_in_library", key.is_in_library}};
}

void DebugAgent::begin_run(const json& request) {
  until_ = request.at("until");
  ends_by_itself_ = request.at("ends_by_itself");
  records_ = request.at("records");
  rules_.set(request.at("rules"));
  follow_.reset();
  side_.reset();
  if (request.contains("follow")) {
    const json& wanted = request["follow"];
    Follow follow;
    follow.kind = static_cast<Follow::Kind>(wanted.at("kind").get<int>());
    follow.thread = {wanted.at("block"), wanted.at("thread")};
    for (const auto& [program, number] : numbers_) {
      if (number == wanted.at("program")) follow.from.program = program;
    }
    follow.from.depth = wanted.at("depth");
    follow.from.file = wanted.at("file");
    follow.from.line = wanted.at("line");
    follow.from.is_in_library = wanted.at("is_in_library");
    follow_ = follow;
  }
  if (request.contains("side")) {
    const json& wanted = request["side"];
    Side side;
    side.object = wanted.at("object");
    if (side.object.empty()) {
      side.thread = {wanted.at("block"), wanted.at("thread")};
      side.pc = wanted.at("pc");
      if (!wanted.at("place").is_null()) side.place = StopRules::rule_of(wanted["place"]);
    }
    side_ = std::move(side);
  }
  last_ = 0;
  last_hit_.clear();
  watches_accesses_ = rules_.watches_data() || side_.has_value();
  seen_ = request.at("test_here") ? 0 : position_;
  seen_data_ = request.at("data_seen") ? position_ : 0;
  seen_findings_ = request.at("findings_seen");
  look_at_ = 0;
}

json DebugAgent::stop_for(const char* reason) {
  json message{{"event", "stop"}, {"reason", reason}, {"position", position_}};
  if (step_.launch == nullptr) return message;
  message["place"] = {{"program", number_of(*step_.program)},
                      {"launch", step_.launch->request().index},
                      {"grid", dim3_json(step_.launch->request().grid)},
                      {"block_extents", dim3_json(step_.launch->request().block)},
                      {"block", step_.place.block},
                      {"warp", step_.place.warp},
                      {"pc", step_.pc},
                      {"together", step_.mask},
                      {"active", step_.active}};
  return message;
}

void DebugAgent::consider(const vgpu::InstrStep& step) {
  if (records_ && position_ == until_) return;  // a search ends before
  if (follow_ && step.place.block == follow_->thread.block &&
      step.place.warp == follow_->thread.warp() &&
      (step.mask >> follow_->thread.lane() & 1u) != 0) {
    const StepKey key =
        rules_.lines_of(*step.program).key_of(step.warp->fragments[step.fragment], step.pc);
    if (records_) {
      follow_->pass(key, position_);
    } else if (position_ != seen_ && follow_->ends_at(key)) {
      return stop(stop_for("step"));
    }
    follow_->has_left = leaves(step, follow_->thread.lane());
  }
  if (position_ == seen_ || !rules_.has_marks(step.pc)) return;
  hit("breakpoint", rules_.at(step.pc), nullptr);
}

// Conditions are the debugger's, so a place with one is always told.
void DebugAgent::hit(const char* reason, const std::vector<const StopRule*>& rules, json data) {
  const bool is_conditional = std::ranges::any_of(rules, &StopRule::is_conditional);
  json numbers = json::array();
  for (const StopRule* const rule : rules) numbers.push_back(rule->number);
  json what{{"reason", reason}, {"rules", std::move(numbers)}, {"data", std::move(data)}};
  if (records_ && !is_conditional) {
    // What the host has written after a launch is seen before the next step.
    const bool is_of_host = step_.launch == nullptr && std::string_view(reason) == "data";
    last_ = is_of_host && position_ + 1 != until_ ? position_ + 1 : position_;
    last_hit_ = what.dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  json message = stop_for(reason);
  message["now"] = std::move(what);
  stop(std::move(message));
}

std::uint32_t DebugAgent::owner_of(const vgpu::Allocation& allocation,
                                   std::uint32_t accessing) const {
  if (allocation.space != ptx::Space::shared || step_.launch == nullptr) return accessing;
  const std::vector<vgpu::Slot*>& resident = step_.launch->resident();
  const auto owner = std::ranges::find(resident, &allocation, &vgpu::Slot::shared);
  return owner == resident.end() ? accessing : (*owner)->block;
}

void DebugAgent::on_access(const vgpu::Access& access) {
  if (is_off_ || !watches_accesses_ || step_.launch == nullptr) return;
  if (side_) look_for_side(access);
  if (position_ == seen_data_ || !rules_.watches_data()) return;
  std::vector<const StopRule*> rules;
  json data;
  const std::uint32_t owner = owner_of(*access.allocation, access.place.block);
  for (const StopRule& rule : rules_.all()) {
    const std::uint32_t lanes = StopRules::touching(rule, access, owner);
    if (lanes == 0) continue;
    if (rules.empty()) {
      data = data_of(access, rule, lanes,
                     answer({{"do", "memory"},
                             {"space", ptx::name_of(rule.space)},
                             {"block", rule.thread.block},
                             {"thread", rule.thread.thread},
                             {"offset", rule.offset},
                             {"bytes", rule.bytes}},
                            ThreadStates(step_)));
    }
    rules.push_back(&rule);
  }
  if (!rules.empty()) hit("data", rules, std::move(data));
}

// Notes an access to the object of a finding with its bytes, or one that may be a side of it.
void DebugAgent::look_for_side(const vgpu::Access& access) {
  const std::uint32_t owner = owner_of(*access.allocation, access.place.block);
  if (!side_->object.empty()) {
    for (std::uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (vgpu::describe_element(access, lane) != side_->object) continue;
      last_ = position_;
      last_hit_ = json{{"place", StopRules::place_of(access, lane, owner)}}.dump();
    }
    return;
  }
  const std::uint32_t lane = 1u << side_->thread.lane();
  if (access.pc != side_->pc || access.place.block != side_->thread.block ||
      access.place.warp != side_->thread.warp() || (access.mask & lane) == 0) {
    return;
  }
  if (side_->place && (StopRules::touching(*side_->place, access, owner) & lane) == 0) return;
  last_ = position_;
}

// A copy or a fill.
void DebugAgent::on_host_access(const vgpu::HostAccess& access) {
  if (is_off_ || !access.write || !rules_.watches_data()) return;
  const std::uint64_t begin = access.allocation->address + access.offset;
  std::vector<const StopRule*> rules;
  for (const StopRule& rule : rules_.all()) {
    const bool is_meant = rule.kind == StopRule::Kind::data && rule.writes &&
                          rule.space == ptx::Space::global && rule.offset < begin + access.bytes &&
                          begin < rule.offset + rule.bytes;
    if (is_meant) rules.push_back(&rule);
  }
  if (rules.empty()) return;
  hit("data", rules,
      {{"kind", "the host writes"},
       {"object", access.call.empty() ? "" : std::string(access.call)},
       {"block", 0},
       {"thread", 0},
       {"before", ""},
       {"unwritten", ""}});
}

void DebugAgent::on_sync(const vgpu::Sync& sync) {
  if (sync.kind == vgpu::Sync::Kind::kernel_start) leave_child();
  if (sync.kind != vgpu::Sync::Kind::kernel_end) return;
  step_.launch = nullptr;
  if (is_off_) return;
  // So that the debugger knows how far a process had come that ends by itself.
  if (!is_copy_) send({{"event", "launch_end"}, {"position", position_}});
  if (ends_by_itself_ && position_ + 1 == until_) stop(stop_for("position"));
}

// A child that the program has forked is not debugged.
void DebugAgent::leave_child() {
  if (is_off_ || ::getpid() == process_) return;
  is_off_ = true;
  link_.close();
}

void DebugAgent::found(const vgpu::Finding& finding) {
  leave_child();
  if (is_off_) return;
  const std::uint64_t index = findings_++;
  json sides = json::array();
  for (const vgpu::AccessSide& side : finding.accesses) {
    json about{{"position", 0}};
    if (step_.launch != nullptr && !side.ptx.empty()) {
      const std::uint32_t thread = step_.launch->request().block.linear(side.thread);
      const std::uint32_t block = step_.launch->request().grid.linear(side.block);
      about["block"] = block;
      about["thread"] = thread;
      const bool is_here = step_.pc == side.instruction && step_.place.block == block &&
                           step_.place.warp == thread / vgpu::kWarpLanes &&
                           (step_.active >> thread % vgpu::kWarpLanes & 1u) != 0;
      if (is_here) about["position"] = position_;
    }
    sides.push_back(std::move(about));
  }
  const json message{{"event", "finding"},
                     {"index", index},
                     {"position", position_},
                     {"record", to_text({.process = 0, .what = FindingRecord{index, finding}})},
                     {"sides", std::move(sides)}};
  send(message);
  if (index < seen_findings_ && !records_) return;
  const std::vector<const StopRule*> rules = rules_.of_findings();
  if (!rules.empty()) hit("finding", rules, {{"finding", index}});
}

void DebugAgent::end() {
  leave_child();
  if (is_off_ || std::exchange(has_ended_, true)) return;
  step_.launch = nullptr;
  ++position_;
  while (!is_off_) {
    stop(stop_for("end"));
  }
}

}  // namespace warpcheck::cudart
