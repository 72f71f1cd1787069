#include "vgpu/cudart/debug/stop_rules.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

namespace warpcheck::cudart {
namespace {

ptx::Space space_of(const std::string& name) {
  if (name == "shared") return ptx::Space::shared;
  return name == "local" ? ptx::Space::local : ptx::Space::global;
}

}  // namespace

bool Follow::ends_at(const StepKey& key) const {
  switch (kind) {
    case Kind::instruction: return true;
    case Kind::line_into: return key.may_end(from) && !key.is_line_of(from);
    case Kind::line_over:
      return key.may_end(from) && key.depth <= from.depth && !key.is_line_of(from);
    case Kind::out: return key.depth < from.depth;
  }
  return true;
}

void Follow::pass(const StepKey& key, std::uint64_t position) {
  const bool is_first = !before;
  switch (kind) {
    case Kind::instruction: break;
    case Kind::line_into:
      if (!key.may_end(from)) return;
      if (before && key.is_line_of(*before)) return;
      break;
    case Kind::line_over:
      if (!key.may_end(from) || key.depth > from.depth) return;
      if (before && key.is_line_of(*before)) return;
      break;
    case Kind::out:
      if (key.depth >= from.depth) return;
      break;
  }
  before = key;
  last = position;
  is_last_first = is_first && (kind == Kind::line_into || kind == Kind::line_over);
}

StopRule StopRules::rule_of(const nlohmann::json& text) {
  StopRule rule;
  rule.number = text.at("number");
  rule.kind = static_cast<StopRule::Kind>(text.at("kind").get<int>());
  rule.is_conditional = text.at("conditional");
  rule.file = text.at("file");
  rule.line = text.at("line");
  rule.kernel = text.at("kernel");
  rule.pc = text.at("pc");
  rule.space = space_of(text.at("space"));
  rule.thread = {text.at("block").get<std::uint32_t>(), text.at("thread").get<std::uint32_t>()};
  rule.offset = text.at("offset");
  rule.bytes = text.at("bytes");
  rule.reads = text.at("reads");
  rule.writes = text.at("writes");
  return rule;
}

std::uint64_t StopRules::offset_of(const vgpu::Access& access, unsigned lane) {
  const std::uint64_t offset = access.offset[lane];
  if (access.space == ptx::Space::local) {
    return offset / (4 * vgpu::kWarpLanes) * 4 + offset % 4;
  }
  return access.space == ptx::Space::shared ? offset : access.allocation->address + offset;
}

nlohmann::json StopRules::place_of(const vgpu::Access& access, unsigned lane, std::uint32_t owner) {
  return {{"number", 0},
          {"kind", static_cast<int>(StopRule::Kind::data)},
          {"conditional", false},
          {"file", ""},
          {"line", 0},
          {"kernel", ""},
          {"pc", 0},
          {"space", ptx::name_of(access.space)},
          {"block", owner},
          {"thread", access.place.warp * vgpu::kWarpLanes + lane},
          {"offset", offset_of(access, lane)},
          {"bytes", access.bytes},
          {"reads", true},
          {"writes", true}};
}

void StopRules::set(const nlohmann::json& rules) {
  std::string text = rules.dump();
  if (text == text_) return;
  text_ = std::move(text);
  rules_.clear();
  lines_.clear();
  watches_data_ = false;
  for (const nlohmann::json& rule : rules) rules_.push_back(rule_of(rule));
  for (const StopRule& rule : rules_) watches_data_ |= rule.kind == StopRule::Kind::data;
  const vgpu::Program* const program = program_;
  std::vector<const vgpu::Program*> programs;
  for (const auto& [known, marks] : marks_of_) programs.push_back(known);
  marks_of_.clear();
  for (const vgpu::Program* const known : programs) enter(*known);
  if (program != nullptr) enter(*program);
}

const ProgramLines& StopRules::lines_of(const vgpu::Program& program) {
  std::unique_ptr<ProgramLines>& lines = programs_[&program];
  if (lines == nullptr) lines = std::make_unique<ProgramLines>(program);
  return *lines;
}

void StopRules::enter(const vgpu::Program& program) {
  program_ = &program;
  const auto [known, is_new] = marks_of_.try_emplace(&program);
  Marks& marks = known->second;
  marks_ = &marks;
  if (!is_new) return;
  marks.is_marked.assign(program.code.size(), 0);
  if (rules_.empty()) return;
  const ProgramLines& lines = lines_of(program);
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const StopRule& rule = rules_[i];
    std::vector<std::uint32_t> pcs;
    if (rule.kind == StopRule::Kind::line) {
      const ProgramLines::Starts starts = lines.starts_of(rule.file, rule.line);
      pcs = starts.pcs;
      if (starts.line != 0) lines_[rule.number] = starts.line;
    } else if (rule.kind == StopRule::Kind::function) {
      pcs = lines.starts_of_function(rule.kernel);
      if (!pcs.empty()) lines_[rule.number] = program.user_location(pcs.front()).line;
    } else if (rule.kind == StopRule::Kind::instruction) {
      const bool is_meant = program.kernel == rule.kernel && rule.pc < program.code.size();
      if (is_meant) pcs = {rule.pc};
      if (is_meant) lines_[rule.number] = program.user_location(rule.pc).line;
    }
    for (const std::uint32_t pc : pcs) {
      marks.is_marked[pc] = 1;
      marks.at[pc].push_back(i);
    }
  }
}

std::vector<const StopRule*> StopRules::at(std::uint32_t pc) const {
  std::vector<const StopRule*> rules;
  const auto found = marks_->at.find(pc);
  if (found == marks_->at.end()) return rules;
  for (const std::size_t i : found->second) rules.push_back(&rules_[i]);
  return rules;
}

std::vector<const StopRule*> StopRules::of_findings() const {
  std::vector<const StopRule*> rules;
  for (const StopRule& rule : rules_) {
    if (rule.kind == StopRule::Kind::finding) rules.push_back(&rule);
  }
  return rules;
}

bool StopRules::may_touch(const vgpu::Allocation& allocation, std::uint32_t owner) const {
  return std::ranges::any_of(rules_, [&](const StopRule& rule) {
    if (rule.kind != StopRule::Kind::data) return false;
    if (allocation.space == ptx::Space::shared || allocation.space == ptx::Space::local) {
      return rule.space == allocation.space && rule.thread.block == owner;
    }
    return rule.space == ptx::Space::global &&
           rule.offset < allocation.address + allocation.bytes &&
           rule.offset + rule.bytes > allocation.address;
  });
}

std::uint32_t StopRules::touching(const StopRule& rule, const vgpu::Access& access,
                                  std::uint32_t owner) {
  if (rule.kind != StopRule::Kind::data) return 0;
  const bool is_read = access.kind == vgpu::AccessKind::read;
  if (is_read ? !rule.reads : !rule.writes) return 0;
  const bool is_private = access.space == ptx::Space::shared || access.space == ptx::Space::local;
  if (is_private != (rule.space != ptx::Space::global)) return 0;
  if (is_private && (rule.space != access.space || rule.thread.block != owner)) return 0;
  std::uint32_t lanes = access.mask;
  if (access.space == ptx::Space::local) {
    if (rule.thread.warp() != access.place.warp) return 0;
    lanes &= 1u << rule.thread.lane();
  }
  std::uint32_t touching = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint64_t begin = offset_of(access, lane);
    if (begin < rule.offset + rule.bytes && rule.offset < begin + access.bytes) {
      touching |= 1u << lane;
    }
  }
  return touching;
}

}  // namespace warpcheck::cudart
