#include "vgpu/differential/reference/reference_meetings.hpp"

#include <algorithm>
#include <stdexcept>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using Given = ReferenceMeeting::Given;
using WaitingThreads = std::map<std::uint32_t, const ReferenceMeeting*>;

bool is_block_barrier(const ptx::Instruction& in) {
  return (in.opcode == Opcode::bar_ || in.opcode == Opcode::barrier_) && !in.modifiers.warp;
}

std::uint32_t mask_of(const ReferenceMeeting& meeting) {
  return static_cast<std::uint32_t>(meeting.sources.back());
}

bool votes(const ptx::Instruction& in, const WaitingThreads& group, std::size_t source) {
  bool all = true, any = false;
  for (const auto& [thread, meeting] : group) {
    const bool vote = meeting->sources.at(source) != 0;
    all &= vote;
    any |= vote;
  }
  switch (in.modifiers.vote) {
    case ptx::VoteMode::all: return all;
    case ptx::VoteMode::any: return any;
    default: return all || !any;
  }
}

std::uint64_t ballot(const WaitingThreads& group, std::uint64_t wanted) {
  std::uint64_t lanes = 0;
  for (const auto& [thread, meeting] : group) {
    if (meeting->sources[0] == wanted) lanes |= std::uint64_t{1} << thread % 32;
  }
  return lanes;
}

std::uint64_t reduced(const ptx::Instruction& in, const WaitingThreads& group) {
  std::optional<std::int64_t> whole;
  for (const auto& [thread, meeting] : group) {
    const auto bits = static_cast<std::uint32_t>(meeting->sources[0]);
    const std::int64_t x = ptx::is_signed(in.modifiers.type) ? static_cast<std::int32_t>(bits)
                                                             : static_cast<std::int64_t>(bits);
    if (!whole) {
      whole = x;
      continue;
    }
    switch (in.modifiers.atom_op) {
      case ptx::AtomOp::add: *whole += x; break;
      case ptx::AtomOp::min: whole = std::min(*whole, x); break;
      case ptx::AtomOp::max: whole = std::max(*whole, x); break;
      case ptx::AtomOp::and_: *whole &= x; break;
      case ptx::AtomOp::or_: *whole |= x; break;
      case ptx::AtomOp::xor_: *whole ^= x; break;
      default: throw std::logic_error(in.text);
    }
  }
  return static_cast<std::uint64_t>(*whole);
}

// 9.7.9.6: if the source lane is not in this lane's segment, this lane gets its own value.
Given shuffled(const ptx::Instruction& in, const WaitingThreads& group, std::uint32_t thread) {
  const ReferenceMeeting& mine = *group.at(thread);
  const auto lane = static_cast<int>(thread % 32);
  const auto b = static_cast<int>(mine.sources[1] & 31), c = static_cast<int>(mine.sources[2]);
  const int clamp = c & 31, segment = c >> 8 & 31;
  const int most = (lane & segment) | (clamp & ~segment);
  const int least = lane & segment;
  int from;
  bool in_range = false;
  switch (in.modifiers.shuffle) {
    case ptx::ShuffleMode::up:
      from = lane - b;
      in_range = from >= most;
      break;
    case ptx::ShuffleMode::down:
      from = lane + b;
      in_range = from <= most;
      break;
    case ptx::ShuffleMode::bfly:
      from = lane ^ b;
      in_range = from <= most;
      break;
    default:
      from = least | (b & ~segment);
      in_range = from <= most;
      break;
  }
  if (!in_range) from = lane;
  const auto found = group.find(thread / 32 * 32 + static_cast<std::uint32_t>(from));
  // The result from a lane that is not there is arbitrary; programs do not use it.
  const std::uint64_t value = found == group.end() ? 0 : found->second->sources[0];
  return {value, std::uint64_t{in_range}};
}

Given given(const ptx::Instruction& in, const WaitingThreads& group, std::uint32_t thread) {
  const ReferenceMeeting& mine = *group.at(thread);
  switch (in.opcode) {
    case Opcode::shfl_: return shuffled(in, group, thread);
    case Opcode::redux_: return {reduced(in, group), {}};
    case Opcode::vote_:
      if (in.modifiers.vote == ptx::VoteMode::ballot) return {ballot(group, 1), {}};
      return {std::uint64_t{votes(in, group, 0)}, {}};
    case Opcode::match_: {
      const std::uint64_t same = ballot(group, mine.sources[0]);
      if (in.modifiers.vote == ptx::VoteMode::any) return {same, {}};
      const bool all = same == mask_of(mine);
      return {all ? same : 0, std::uint64_t{all}};
    }
    default: break;
  }
  if (!in.modifiers.red) return {};
  const std::size_t vote = mine.sources.size() - 1;
  std::uint64_t count = 0;
  for (const auto& [other, meeting] : group) count += meeting->sources[vote] != 0 ? 1 : 0;
  if (in.modifiers.popc) return {count, {}};
  const bool is_and = in.modifiers.bool_op == ptx::BoolOp::and_;
  return {std::uint64_t{is_and ? count == group.size() : count != 0}, {}};
}

}  // namespace

std::vector<std::pair<std::uint32_t, Given>> ReferenceMeetings::complete() const {
  std::vector<std::pair<std::uint32_t, Given>> result;
  const bool all_at_barrier = std::all_of(waits_.begin(), waits_.end(), [](const auto& entry) {
    return is_block_barrier(*entry.second->instruction);
  });
  if (all_at_barrier) {
    for (const auto& [thread, meeting] : waits_) {
      result.emplace_back(thread, given(*meeting->instruction, waits_, thread));
    }
    return result;
  }
  for (const auto& [thread, meeting] : waits_) {
    if (is_block_barrier(*meeting->instruction)) continue;
    WaitingThreads group;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if ((mask_of(*meeting) >> lane & 1) == 0) continue;
      const auto other = waits_.find(thread / 32 * 32 + lane);
      const bool is_here = other != waits_.end() &&
                           other->second->instruction == meeting->instruction &&
                           mask_of(*other->second) == mask_of(*meeting);
      if (is_here) group.insert(*other);
    }
    if (group.size() != static_cast<std::size_t>(__builtin_popcount(mask_of(*meeting)))) continue;
    result.emplace_back(thread, given(*meeting->instruction, group, thread));
  }
  return result;
}

}  // namespace warpcheck::vgpu
