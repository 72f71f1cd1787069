// Origins of undefined values: loads, and warp operations that give a lane the value of a lane that
// took no part.
#include <algorithm>

#include "vgpu/check/init/init.hpp"

namespace warpcheck::vgpu {

std::uint32_t InitChecker::origin_of_load(const Access& access, std::uint32_t lanes) {
  std::uint32_t index = find_origin(access.program, access.pc);
  if (index == ptx::kNone) {
    const auto first = static_cast<unsigned>(__builtin_ctz(lanes));
    index = static_cast<std::uint32_t>(origins_.size());
    Origin& origin = origins_.emplace_back();
    origin.program = access.program;
    origin.pc = access.pc;
    origin.space = access.space;
    origin.object = describe_element(access, first);
    origin.variable = variable_of(*access.allocation, access.offset[first]);
    origin.first = thread_of(access.place, first);
  }
  origins_[index].place = access.place;
  origins_[index].lanes = lanes;
  return index;
}

std::uint32_t InitChecker::find_origin(const Program* program, std::uint32_t pc) const {
  const auto found = std::ranges::find_if(
      origins_, [&](const Origin& origin) { return origin.program == program && origin.pc == pc; });
  return found == origins_.end() ? ptx::kNone
                                 : static_cast<std::uint32_t>(found - origins_.begin());
}

std::uint32_t InitChecker::origin_of_use(const Program* program, std::uint32_t pc,
                                         const WarpPlace& place, std::uint32_t lanes) {
  const std::uint32_t known = find_origin(program, pc);
  if (known != ptx::kNone || pc == ptx::kNone) return known;
  const bool is_product = program->code[pc].kind == InstrKind::group_pending;
  if (program->code[pc].opcode != ptx::Opcode::shfl_ && !is_product) return ptx::kNone;
  Origin& origin = origins_.emplace_back();
  origin.program = program;
  origin.pc = pc;
  origin.first = thread_of(place, static_cast<unsigned>(__builtin_ctz(lanes)));
  origin.is_shuffle = !is_product;
  origin.is_product = is_product;
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

AccessSide InitChecker::side_of(const Origin& origin, ThreadId who) const {
  if (origin.program == nullptr) return vgpu::side_of(origin.operand, false);
  const char* const role = origin.is_load() ? "read" : origin.is_shuffle ? "shuffle" : "product";
  return reporter_.side(role, *origin.program, origin.pc, who);
}

// Returns the lanes that executed the load themselves before they use the value; none if the value
// came another way.
std::uint32_t InitChecker::lanes_that_read(const Origin& origin, const UndefinedUse& use) {
  const bool same_warp =
      origin.place.block == use.place.block && origin.place.warp == use.place.warp;
  return same_warp ? origin.lanes & use.lanes : 0;
}

}  // namespace warpcheck::vgpu
