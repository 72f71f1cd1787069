#include "vgpu/check/race/race_lack.hpp"

#include <algorithm>
#include <string>

#include "vgpu/check/race/race_flag.hpp"
#include "vgpu/check/race/race_lock.hpp"
#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether an instruction loads from the address to which a later store writes.  `x += y`
// computes its address once, in optimised and in unoptimised code.
bool is_load_of(const Program& program, std::uint32_t pc, const Instr& store) {
  const Instr& load = program.code[pc];
  const auto& at = program.source_of(pc).location;
  const auto& line = program.sources[store.source].location;
  return load.kind == InstrKind::load &&
         load[MemoryOperand::address] == store[MemoryOperand::address] &&
         load.displacement == store.displacement && at.file == line.file && at.line == line.line;
}

// Returns whether both instructions belong to one statement that reads, changes and writes the
// location at which they race.
bool is_update(const Program& program, std::uint32_t one, std::uint32_t other) {
  constexpr std::uint32_t kReach = 64;  // maximal instructions of a statement
  const std::uint32_t first = std::min(one, other), last = std::max(one, other);
  if (last >= program.code.size() || program.code[last].kind != InstrKind::store) return false;
  const Instr& store = program.code[last];
  if (first != last) return is_load_of(program, first, store);
  for (std::uint32_t pc = last; pc > 0 && last - pc < kReach; --pc) {
    if (is_load_of(program, pc - 1, store)) return true;
  }
  return false;
}

}  // namespace

AccessKind kind_at(const Program& program, std::uint32_t pc, unsigned access_class) {
  const AccessClass as = AccessClass::of_index(access_class);
  switch (program.code[pc].kind) {
    case InstrKind::atomic: return AccessKind::atomic;
    case InstrKind::barrier_object:
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::async_store:
      if (as.write && as.strong) return AccessKind::atomic;
      break;
    default: break;
  }
  return as.write ? AccessKind::write : AccessKind::read;
}

std::string_view role_at(const Program& program, std::uint32_t pc, AccessKind kind) {
  return program.code[pc].kind == InstrKind::heap_free ? "free" : role_name(kind);
}

Lack order_between(Relation relation) {
  switch (relation) {
    case Relation::lanes: return Lack::warp_barrier;
    case Relation::warps: return Lack::block_barrier;
    case Relation::blocks: return Lack::order_of_blocks;
    case Relation::launches: return Lack::order_of_launches;
    case Relation::host: return Lack::wait_of_host;
    case Relation::none: break;
  }
  return Lack::unknown;
}

RaceExplanation explain_strong(const AccessClass& earlier, const AccessClass& later) {
  if (earlier.size_log2 != later.size_log2) {
    return {Lack::equal_sizes,
            "(1) and (2) are of different sizes, so they are not atomic to each other"};
  }
  return {Lack::scope, "the scope of (1) or (2) does not include the other's block"};
}

std::string_view message_of_threads(Relation relation) {
  switch (relation) {
    case Relation::blocks: return "nothing orders blocks of one kernel launch";
    case Relation::lanes: return "lanes of one warp are not ordered without __syncwarp()";
    default: return "no barrier orders (1) and (2)";
  }
}

RaceExplanation with_lock(const Program& program, std::uint32_t earlier_pc, std::uint32_t later_pc,
                          RaceExplanation explanation) {
  const std::string fences = missing_lock_fences(program, earlier_pc, later_pc);
  if (fences.empty()) return explanation;
  return {Lack::lock_fences, explanation.message + ": " + fences};
}

bool may_be_by_flag(Lack lack) {
  return lack == Lack::order_of_blocks || lack == Lack::block_barrier;
}

RaceExplanation with_flag(const Program& earlier, std::uint32_t earlier_pc, const Program& later,
                          std::uint32_t later_pc, RaceExplanation explanation) {
  const bool one_block = explanation.lack == Lack::block_barrier;
  if (!is_handed_on_by_flag(earlier, earlier_pc, later, later_pc, one_block)) return explanation;
  return {Lack::handover,
          "a flag is written behind (1) and read before (2) by volatile or relaxed accesses, which "
          "order nothing else"};
}

Lack lack_of(const Program& program, const AccessClass& earlier, std::uint32_t earlier_pc,
             const AccessClass& later, std::uint32_t later_pc, Relation relation) {
  if (morally_strong(earlier, later, relation < Relation::blocks)) {
    return is_update(program, earlier_pc, later_pc) ? Lack::atomic_update : Lack::handover;
  }
  if (earlier.strong && later.strong) {
    return earlier.size_log2 != later.size_log2 ? Lack::equal_sizes : Lack::scope;
  }
  if (earlier.strong != later.strong) return Lack::atomicity;
  if (is_update(program, earlier_pc, later_pc)) return Lack::atomic_update;
  return order_between(relation);
}

}  // namespace warpcheck::vgpu
