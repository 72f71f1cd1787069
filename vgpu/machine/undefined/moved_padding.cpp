#include "vgpu/machine/undefined/moved_padding.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace warpcheck::vgpu {

// Returns whether an undefined byte may be padding beside the bytes that stores have written around
// it.
bool MovedPadding::is_padding(const MemoryShadow& shadow, ptx::Space space,
                              std::uint32_t at) const {
  if (!shadow.has_states()) return false;
  if (shadow.state_at(at) == MemoryShadow::kUndefined) return shadow.taint_at(at).next_to_defined;
  if (space != ptx::Space::local) return is_in_gap(shadow, at);
  return is_in_gap(LaneStates{shadow, at / 4 % kWarpLanes}, offset_in_lane(at));
}

template <typename States>
bool MovedPadding::is_in_gap(const States& states, std::uint32_t at) const {
  constexpr std::uint32_t kGapMax = 16;
  const auto is_unwritten = [&](std::uint32_t byte) {
    return states.state_at(byte) == MemoryShadow::kNeverWritten;
  };
  std::uint32_t begin = at, end = at + 1;
  while (begin > 0 && end - begin < kGapMax && is_unwritten(begin - 1)) --begin;
  while (end < states.bytes() && end - begin < kGapMax && is_unwritten(end)) ++end;
  if (begin == 0) return false;
  const auto may_end_at = [&](std::uint32_t gap_end) {
    return gap_end - begin < kGapMax && shapes_.may_be_padding(states, begin, gap_end, ptx::kNone);
  };
  if (may_end_at(end)) return true;
  if constexpr (!std::is_same_v<States, LaneStates>) return false;
  // What follows a struct in local memory may be unwritten, too.
  return std::ranges::any_of(std::array{2u, 4u, 8u, 16u}, [&](std::uint32_t alignment) {
    const std::uint32_t struct_end = (at / alignment + 1) * alignment;
    return struct_end < end && may_end_at(struct_end);
  });
}

void MovedPadding::see(const Access& load, std::uint32_t lanes, const MemoryShadow& shadow) {
  bool& is_alone =
      of_programs_[load.program].reads_padding.try_emplace(load.pc, true).first->second;
  for (std::uint32_t rest = lanes; rest != 0 && is_alone; rest &= rest - 1) {
    const std::uint32_t begin = load.offset[static_cast<unsigned>(__builtin_ctz(rest))];
    const std::uint32_t end = begin + load.bytes;
    std::uint32_t at = shadow.find_undefined(begin, end);
    while (at != end && is_alone) {
      is_alone = is_padding(shadow, load.space, at);
      at = shadow.find_undefined(at + 1, end);
    }
  }
}

bool MovedPadding::is_stored(const Access& store, std::uint32_t element) {
  OfProgram& moves = of_programs_[store.program];
  const auto has_read = [&](std::uint32_t load, bool padding) {
    const auto known = moves.reads_padding.find(load);
    return known != moves.reads_padding.end() && known->second == padding;
  };
  const InstrKind kind = store.program->code[store.pc].kind;
  if (kind == InstrKind::copy || kind == InstrKind::bulk_copy) return has_read(store.pc, true);
  if (kind != InstrKind::store) return false;
  if (moves.values == nullptr) moves.values = std::make_unique<MovedValues>(*store.program);
  const auto& loads = moves.values->loads_of(store.pc, element);
  if (!loads) return false;
  return std::ranges::any_of(*loads, [&](std::uint32_t load) { return has_read(load, true); }) &&
         std::ranges::none_of(*loads, [&](std::uint32_t load) { return has_read(load, false); });
}

}  // namespace warpcheck::vgpu
