#include "model/control_flow.hpp"

#include <utility>

namespace warpcheck::model {
namespace {

constexpr unsigned kNowhere = ~0U;

void use(const Operand& operand, std::vector<bool>& live) {
  if (operand.kind == Operand::Kind::reg) live[operand.reg] = true;
}

}  // namespace

ControlFlow::ControlFlow(const Thread& thread, std::vector<bool> wanted) : thread_(thread) {
  find_live(std::move(wanted));
}

std::vector<unsigned> ControlFlow::after(unsigned instruction) const {
  if (instruction >= thread_.code.size()) return {};
  const Instruction& code = thread_.code[instruction];
  if (code.kind == Instruction::Kind::jump) return {code.target};
  if (code.kind == Instruction::Kind::branch) return {instruction + 1, code.target};
  return {instruction + 1};
}

std::vector<bool> ControlFlow::reached(unsigned from, unsigned avoided) const {
  std::vector<bool> seen(thread_.code.size() + 1);
  std::vector<unsigned> open = after(from);
  while (!open.empty()) {
    const unsigned at = open.back();
    open.pop_back();
    if (at == avoided || seen[at]) continue;
    seen[at] = true;
    for (const unsigned next : after(at)) open.push_back(next);
  }
  return seen;
}

bool ControlFlow::depends(unsigned instruction, unsigned branch) const {
  const bool in_a_loop = reached(branch, kNowhere)[branch];
  return in_a_loop || reached(branch, instruction)[thread_.code.size()];
}

std::vector<bool> ControlFlow::set_from(unsigned instruction) const {
  std::vector<bool> reachable = reached(instruction, kNowhere);
  reachable[instruction] = true;
  std::vector<bool> set(thread_.registers.size());
  for (std::size_t at = 0; at < thread_.code.size(); ++at) {
    if (reachable[at] && thread_.code[at].destination) set[*thread_.code[at].destination] = true;
  }
  return set;
}

bool ControlFlow::begins_loop(unsigned instruction) const {
  for (unsigned at = instruction; at < thread_.code.size(); ++at) {
    for (const unsigned next : after(at)) {
      if (next == instruction && next <= at) return true;
    }
  }
  return false;
}

// Iterates backward over the code until nothing changes.
void ControlFlow::find_live(std::vector<bool> wanted) {
  live_.assign(thread_.code.size() + 1, std::vector<bool>(thread_.registers.size()));
  live_.back() = std::move(wanted);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = thread_.code.size(); at-- > 0;) {
      const Instruction& code = thread_.code[at];
      std::vector<bool> live(thread_.registers.size());
      for (const unsigned next : after(static_cast<unsigned>(at))) {
        for (std::size_t reg = 0; reg < live.size(); ++reg) {
          if (live_[next][reg]) live[reg] = true;
        }
      }
      if (code.destination) live[*code.destination] = false;
      for (const Operand& operand : {code.a, code.b, code.arrivals, code.address.index}) {
        use(operand, live);
      }
      if (live != live_[at]) {
        live_[at] = std::move(live);
        changed = true;
      }
    }
  }
}

}  // namespace warpcheck::model
