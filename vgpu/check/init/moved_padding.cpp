#include "vgpu/check/init/moved_padding.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

// Returns whether an undefined byte may be padding beside the bytes that stores have written around
// it.
bool MovedPadding::is_padding(const InitShadow& shadow, std::uint32_t at) const {
  constexpr std::uint32_t kGapMax = 16;
  if (shadow.extent() != InitShadow::Extent::some) return false;
  if (shadow.state_at(at) == InitShadow::kUndefined) return shadow.taint_at(at).next_to_defined;
  const auto is_unwritten = [&](std::uint32_t byte) {
    return shadow.state_at(byte) == InitShadow::kNeverWritten;
  };
  std::uint32_t begin = at, end = at + 1;
  while (begin > 0 && end - begin < kGapMax && is_unwritten(begin - 1)) --begin;
  while (end < shadow.bytes() && end - begin < kGapMax && is_unwritten(end)) ++end;
  return begin != 0 && end - begin < kGapMax &&
         shapes_.may_be_padding(shadow, begin, end, ptx::kNone);
}

void MovedPadding::see(const Access& load, std::uint32_t lanes, const InitShadow& shadow) {
  bool& is_alone =
      of_programs_[load.program].reads_padding.try_emplace(load.pc, true).first->second;
  for (std::uint32_t rest = lanes; rest != 0 && is_alone; rest &= rest - 1) {
    const std::uint32_t begin = load.offset[static_cast<unsigned>(__builtin_ctz(rest))];
    const std::uint32_t end = begin + load.bytes;
    std::uint32_t at = shadow.find_undefined(begin, end);
    while (at != end && is_alone) {
      is_alone = is_padding(shadow, at);
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
