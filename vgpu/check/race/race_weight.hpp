// How bad it is that two unordered accesses conflict.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "vgpu/check/finding.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/program/flow/read_uses.hpp"

namespace warpcheck::vgpu {

enum class Weight : std::uint8_t {
  race,        // by the letter of PTX ISA 8.7.1
  same_bytes,  // a race of two writes that store the same
  // Volatile or relaxed accesses do not race, and order nothing: one reads as data (read_uses.hpp)
  // what the other one writes, or has before the other one writes.
  hand_over,
  // The same between lanes of one warp in volatile shared memory: code that was right while warps
  // ran in lockstep, and computes wrongly since sm_70.
  warp_hand_over,
  overwrite,  // two volatile or relaxed stores of other values, by two warps: which one stays is
              // chance
  dependent,  // (2) depends on (1) through an operation of both lanes (collective_order.hpp)
  // (1) comes before a lane of (2)'s warp, which has let the lane of (2) go on by such an
  // operation.
  passed_on,
  // A weak read of what atomics write, whose value counts only where a compare-and-swap has found
  // it: the loop that the programming guide makes other atomics of.
  swap_guess,
};

constexpr Severity severity_of(Weight weight) {
  return weight == Weight::race || weight == Weight::warp_hand_over ? Severity::error
                                                                    : Severity::note;
}

// What the message adds.
constexpr std::string_view remark_of(Weight weight) {
  switch (weight) {
    case Weight::same_bytes: return "; both store the same bytes";
    case Weight::warp_hand_over: return ", volatile or not";
    case Weight::dependent:
      return ", but (2) depends on (1) through an operation of both lanes, so no execution goes "
             "wrong";
    case Weight::passed_on:
      return ", but a lane of (2)'s warp has acquired it, and lets (2) go on by a shuffle or vote";
    case Weight::swap_guess:
      return ", but what was read counts only where a compare-and-swap finds it again";
    case Weight::overwrite:
      return "; volatile or relaxed, they do not race, but which of their values stays is chance";
    case Weight::hand_over: return "; volatile or relaxed, they do not race, but hand on data";
    case Weight::race: break;
  }
  return "";
}

// Whether two strong accesses may hand on data: a load that reads as data what the other one
// stores, or two stores.
inline bool may_hand_on(const Program& a, std::uint32_t pc_a, const Program& b,
                        std::uint32_t pc_b) {
  if (!is_relaxed_access(a.code[pc_a]) || !is_relaxed_access(b.code[pc_b])) return false;
  const auto takes_part = [](const Program& program, std::uint32_t pc) {
    return program.code[pc].kind == InstrKind::store ||
           (pc < program.data_reads.size() && program.data_reads[pc]);
  };
  return takes_part(a, pc_a) && takes_part(b, pc_b);
}

// The weak reads of the launches so far that are guesses of a compare-and-swap: asked when they
// race.
class SwapGuesses {
 public:
  // Whether one of two accesses is one, and the other an atomic.
  bool explain(const Program& a, std::uint32_t pc_a, const Program& b, std::uint32_t pc_b) {
    return (is_guess(a, pc_a) && b.code[pc_b].kind == InstrKind::atomic) ||
           (is_guess(b, pc_b) && a.code[pc_a].kind == InstrKind::atomic);
  }

 private:
  bool is_guess(const Program& program, std::uint32_t pc) {
    if (program.code[pc].kind != InstrKind::load) return false;
    const auto [known, is_new] = known_.try_emplace({&program, pc});
    if (is_new) known->second = is_swap_guess(program, pc);
    return known->second;
  }

  std::map<std::pair<const Program*, std::uint32_t>, bool> known_;
};

inline bool is_volatile(const Program& program, std::uint32_t pc) {
  return program.code[pc].modifiers.order == ptx::Order::volatile_;
}

}  // namespace warpcheck::vgpu
