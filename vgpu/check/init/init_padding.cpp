// Padding that kernels move: struct copies, sorts of structs, stagings through shared memory.
#include <algorithm>
#include <memory>

#include "vgpu/check/init/init.hpp"

namespace warpcheck::vgpu {

// Returns whether an undefined byte may be padding beside the bytes that stores have written around
// it.
bool InitChecker::is_padding(const InitShadow& shadow, std::uint32_t at) const {
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

// Records for a load whether it reads only padding; the load has read undefined bytes in `lanes`.
void InitChecker::see_padding(const Access& access, std::uint32_t lanes, const InitShadow& shadow) {
  bool& is_alone = moves_[access.program].reads_padding.try_emplace(access.pc, true).first->second;
  for (std::uint32_t rest = lanes; rest != 0 && is_alone; rest &= rest - 1) {
    const std::uint32_t begin = access.offset[static_cast<unsigned>(__builtin_ctz(rest))];
    const std::uint32_t end = begin + access.bytes;
    std::uint32_t at = shadow.find_undefined(begin, end);
    while (at != end && is_alone) {
      is_alone = is_padding(shadow, at);
      at = shadow.find_undefined(at + 1, end);
    }
  }
}

// Returns whether a store writes only padding into an element, and no value calculated from it.
bool InitChecker::moves_padding(const Access& access, std::uint32_t element) {
  Moves& moves = moves_[access.program];
  const auto has_read = [&](std::uint32_t load, bool padding) {
    const auto known = moves.reads_padding.find(load);
    return known != moves.reads_padding.end() && known->second == padding;
  };
  const InstrKind kind = access.program->code[access.pc].kind;
  if (kind == InstrKind::copy || kind == InstrKind::bulk_copy) return has_read(access.pc, true);
  if (kind != InstrKind::store) return false;
  if (moves.values == nullptr) moves.values = std::make_unique<MovedValues>(*access.program);
  const auto& loads = moves.values->loads_of(access.pc, element);
  if (!loads) return false;
  return std::ranges::any_of(*loads, [&](std::uint32_t load) { return has_read(load, true); }) &&
         std::ranges::none_of(*loads, [&](std::uint32_t load) { return has_read(load, false); });
}

}  // namespace warpcheck::vgpu
