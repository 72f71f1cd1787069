#include "vgpu/machine/native/flow/shared_addresses.hpp"

#include <algorithm>
#include <array>

#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu::native {
namespace {

// Accesses that are farther from the first are checked by themselves: the first checks the bounds
// for all others.
constexpr std::int64_t kDistanceMax = 1 << 16;

std::uint32_t bytes_of(const Instr& instr) {
  return ptx::bytes_of(instr.modifiers.type) * instr.modifiers.vector;
}

bool may_share(const Instr& instr) {
  return (instr.kind == InstrKind::load || instr.kind == InstrKind::store) &&
         instr.guard.bank == Bank::none && instr.modifiers.order == ptx::Order::weak;
}

// Returns whether two accesses lie alike if the value of the address register is the same.
bool are_alike(const Instr& one, const Instr& other) {
  return one.kind == other.kind && one.modifiers.space == other.modifiers.space &&
         bytes_of(one) == bytes_of(other) &&
         one[MemoryOperand::address] == other[MemoryOperand::address];
}

bool may_write(const Instr& instr, const Ref& row) {
  const OperandRoles roles = roles_of(instr);
  bool found = roles.opaque;
  roles.writes.for_each_in(instr.operands, [&](const Ref& ref) { found |= ref == row; });
  return found;
}

}  // namespace

void SharedAddresses::begin_block(const std::vector<Instr>& code, std::uint32_t begin,
                                  std::uint32_t end) {
  begin_ = begin;
  shares_.assign(end - begin, std::nullopt);
  std::array<std::uint32_t, kPlaces> used_until{};  // by place: where its group ends
  for (std::uint32_t first = begin; first < end; ++first) {
    if (!may_share(code[first]) || shares_[first - begin]) continue;
    const auto place = static_cast<std::uint32_t>(
        std::ranges::find_if(used_until, [&](std::uint32_t until) { return until <= first; }) -
        used_until.begin());
    if (place == kPlaces) continue;
    const Ref& address = code[first][MemoryOperand::address];
    std::vector<std::uint32_t> members;
    std::int64_t low = 0, high = 0;
    for (std::uint32_t pc = first; pc < end; ++pc) {
      const auto distance =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(code[pc].displacement) -
                                    static_cast<std::uint64_t>(code[first].displacement));
      if (may_share(code[pc]) && are_alike(code[pc], code[first])) {
        members.push_back(pc);
        const bool is_near = distance >= -kDistanceMax && distance <= kDistanceMax &&
                             distance % static_cast<std::int64_t>(bytes_of(code[pc])) == 0;
        shares_[pc - begin] = Share{.place = place,
                                    .first = first,
                                    .distance = static_cast<std::int32_t>(is_near ? distance : 0),
                                    .is_near = is_near};
        low = is_near ? std::min(low, distance) : low;
        high = is_near ? std::max(high, distance) : high;
      }
      if (may_write(code[pc], address)) break;
    }
    if (members.size() == 1) {
      shares_[first - begin].reset();
      continue;
    }
    used_until[place] = members.back() + 1;
    for (const std::uint32_t pc : members) {
      shares_[pc - begin]->low = static_cast<std::int32_t>(low);
      shares_[pc - begin]->span = static_cast<std::uint32_t>(high - low);
    }
  }
}

std::optional<SharedAddresses::Share> SharedAddresses::find(std::uint32_t pc) const {
  if (pc < begin_ || pc - begin_ >= shares_.size()) return std::nullopt;
  return shares_[pc - begin_];
}

}  // namespace warpcheck::vgpu::native
