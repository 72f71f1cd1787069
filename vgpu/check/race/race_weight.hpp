// How severe a conflict between two unordered accesses is.
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
  same_bytes,  // a race of two writes that store the same value
  // Volatile or relaxed accesses, which do not race and order nothing: one side reads, as data
  // (read_uses.hpp), what the other side writes later or has written.
  hand_over,
  // A hand_over between lanes of one warp in volatile shared memory: such code was correct while
  // warps ran in lockstep, and computes wrong results since sm_70.
  warp_hand_over,
  overwrite,  // two volatile or relaxed stores of other values, by two warps or by lanes that
              // execute one store: which value stays is chance
  dependent,  // (2) depends on (1) through a warp operation of both lanes (collective_order.hpp)
  // (1) comes before a lane of (2)'s warp, and this lane has let the lane of (2) continue by a warp
  // operation.
  passed_on,
  // A weak read of what atomics write, whose value counts only if a compare-and-swap has found it:
  // the loop by which the programming guide builds other atomics.
  swap_guess,
  // (1) is a load by a whole warp (ldmatrix, wmma.load), which no lane leaves before all lanes have
  // executed it (PTX ISA 9.7.14, .sync); (2) is a later write by one of these lanes.
  collective_load,
  // A load of a value that the loading thread has stored itself, and stores of the same value
  // (same_value_stores.hpp).
  same_value_read,
  // (1) is an asynchronous copy; a thread has waited for it by a wait that is .relaxed, and then a
  // barrier of the block completed.
  relaxed_wait,
  // (1) is a tcgen05.alloc, tensormap.replace or mbarrier.inval, and (2) an asynchronous copy over
  // its bytes, which comes behind it; only a fence of the proxy is missing.  The ISA does not say
  // by which proxy they write, and compilers reuse the bytes without a fence.
  reused,
  // (1) is the arrival of a tcgen05.commit, and (2) the mbarrier.inval of its object: compilers
  // wait for the last of several commits alone.
  ended,
  // (2) is a copy of a tensor map by the whole warp of (1), which no lane begins before all have
  // come to it (tensormap.cp_fenceproxy, PTX ISA 9.7.13.15, .sync).
  collective_copy,
};

constexpr Severity severity_of(Weight weight) {
  return weight == Weight::race || weight == Weight::warp_hand_over ? Severity::error
                                                                    : Severity::note;
}

// Returns the remark that the message adds.
constexpr std::string_view remark_of(Weight weight) {
  switch (weight) {
    case Weight::same_bytes: return "; both store the same bytes";
    case Weight::warp_hand_over: return ", volatile or not";
    case Weight::dependent:
      return ", but (2) depends on (1) through an operation of both lanes, so no execution goes "
             "wrong";
    case Weight::passed_on:
      return ", but a lane of (2)'s warp has acquired (1), and its shuffle or vote decides "
             "whether (2) executes";
    case Weight::swap_guess:
      return ", but what was read counts only where a compare-and-swap finds it again";
    case Weight::collective_load:
      return ", but (1) is a load by the whole warp, which no lane leaves before all have "
             "loaded, so no execution goes wrong";
    case Weight::same_value_read:
      return "; all threads store the same value, and the thread that reads it has stored it, too";
    case Weight::relaxed_wait:
      return "; but a barrier of the block followed, which the toolkit's own headers take for an "
             "acquire";
    case Weight::reused:
      return "; but the copy only replaces what (1) has left, in bytes whose use has ended";
    case Weight::ended:
      return "; but (2) only ends the mbarrier, and another use of its bytes would be an error of "
             "its own";
    case Weight::collective_copy:
      return ", but (2) is a copy by the whole warp, which begins when all lanes have come to it, "
             "so no execution goes wrong";
    case Weight::overwrite:
      return "; volatile or relaxed, they do not race, but which of their values stays is chance";
    case Weight::hand_over: return "; volatile or relaxed, they do not race, but hand over data";
    case Weight::race: break;
  }
  return "";
}

// Returns whether it is a part of a load that a warp executes as a whole.
inline bool is_collective_load(const Program& program, std::uint32_t pc) {
  return program.code[pc].kind == InstrKind::load && program.code[pc].modifiers.sync;
}

// Returns whether two strong accesses may pass data on: a load that uses the other one's stored
// value as data, or two stores.
inline bool may_hand_on(const Program& a, std::uint32_t pc_a, const Program& b,
                        std::uint32_t pc_b) {
  if (!is_relaxed_access(a.code[pc_a]) || !is_relaxed_access(b.code[pc_b])) return false;
  const auto takes_part = [](const Program& program, std::uint32_t pc) {
    return program.code[pc].kind == InstrKind::store ||
           (pc < program.data_reads.size() && program.data_reads[pc]);
  };
  return takes_part(a, pc_a) && takes_part(b, pc_b);
}

// Finds weak reads that are guesses of a compare-and-swap, in all launches so far.  It analyses a
// program only when such a read races.
class SwapGuesses {
 public:
  // Returns whether one of two accesses is such a guess, and the other an atomic.
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

// Returns the weight of strong accesses that do not race but hand a value on, the later one by
// `later`.
//   pc: of the earlier access, which `writes`
//   one_warp: both are by one warp, which executes the program of `later`
inline Weight weight_of_hand_over(const Access& later, std::uint32_t pc, bool writes,
                                  bool one_warp) {
  if (later.kind == AccessKind::write && writes) return Weight::overwrite;
  const auto is_volatile = [&](std::uint32_t at) {
    return later.program->code[at].modifiers.order == ptx::Order::volatile_;
  };
  const bool in_lockstep_code =
      one_warp && later.space == ptx::Space::shared && is_volatile(pc) && is_volatile(later.pc);
  return in_lockstep_code ? Weight::warp_hand_over : Weight::hand_over;
}

}  // namespace warpcheck::vgpu
