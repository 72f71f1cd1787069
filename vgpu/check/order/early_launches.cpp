#include "vgpu/check/order/early_launches.hpp"

#include <algorithm>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

namespace {

// The number of remembered launches, and the number of earlier launches that a launch can be
// unordered with.  Accesses of older launches count as completed.
constexpr std::size_t kRemembered = 256;
constexpr std::size_t kOpenMax = 16;

bool is_wait(const Instr& instr) {
  return instr.opcode == ptx::Opcode::griddepcontrol_ && !instr.modifiers.arrive;
}

bool is_in(const EarlyLaunches::Launches& launches, std::uint32_t launch) {
  return std::ranges::find(launches, launch) != launches.end();
}

}  // namespace

void EarlyLaunches::clear() { *this = {}; }

void EarlyLaunches::begin(std::uint32_t launch, std::uint32_t early_after, const Program* program) {
  put_away();
  now_.present = {};
  now_.launch = launch;
  now_.before = early_after;
  now_.can_wait = early_after != ptx::kNone && std::ranges::any_of(program->code, is_wait);
  now_.blocks.clear();
  if (early_after == ptx::kNone) return;
  now_.present.at_start = {early_after};
  const auto found = past_.find(early_after);
  if (found == past_.end()) return;
  const Launch& before = found->second;
  now_.present.after_wait = before.waits ? before.after_wait : before.at_start;
  const Launches& open = before.lets_late ? before.after_wait : before.at_start;
  const std::size_t count = std::min(open.size(), kOpenMax - 1);
  now_.present.at_start.insert(now_.present.at_start.end(), open.begin(),
                               open.begin() + static_cast<std::ptrdiff_t>(count));
}

void EarlyLaunches::put_away() {
  past_[now_.launch] = now_.present;
  if (past_.size() > kRemembered) past_.erase(past_.begin());
}

void EarlyLaunches::begin_block(std::size_t slot) {
  if (slot >= now_.blocks.size()) now_.blocks.resize(slot + 1);
  now_.blocks[slot] = {};
}

void EarlyLaunches::let_next_begin(std::size_t slot, bool knows) {
  now_.present.lets = true;
  if (now_.before == ptx::kNone) return;
  now_.blocks[slot].lets = true;
  now_.blocks[slot].lets_early |= !knows;
}

void EarlyLaunches::end_block(std::size_t slot) {
  if (slot >= now_.blocks.size()) return;
  const Block& block = now_.blocks[slot];
  // One block that waits before it triggers is enough, because all blocks must have triggered
  // before the next kernel begins.
  now_.present.lets_late |= block.lets ? !block.lets_early : block.waits;
}

bool EarlyLaunches::is_open_at_start(std::uint32_t launch) const {
  return is_in(now_.present.at_start, launch);
}

bool EarlyLaunches::is_open_after_wait(std::uint32_t launch) const {
  return is_in(now_.present.after_wait, launch);
}

bool EarlyLaunches::has_let(std::uint32_t launch) const {
  const auto found = past_.find(launch);
  return found != past_.end() && found->second.lets;
}

}  // namespace warpcheck::vgpu
