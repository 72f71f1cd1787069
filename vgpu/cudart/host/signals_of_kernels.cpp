#include "vgpu/cudart/host/signals_of_kernels.hpp"

#include <algorithm>

#include "vgpu/check/order/bits.hpp"

namespace warpcheck::cudart {
namespace {

// Of one launch and allocation: a kernel that accesses more places strongly has no flags there.
constexpr std::size_t kPlacesMax = 4096;

}  // namespace

bool SignalsOfKernels::watches_accesses_of(const vgpu::Program& program) const {
  if (!memory_.has_mapped()) return false;
  const auto [known, is_new] = has_strong_accesses_.try_emplace(&program, false);
  if (is_new) {
    known->second = std::ranges::any_of(program.code, [](const vgpu::Instr& instr) {
      return instr.kind == vgpu::InstrKind::atomic || instr.modifiers.order != ptx::Order::weak;
    });
  }
  return known->second;
}

void SignalsOfKernels::on_access(vgpu::Access& access) {
  if (access.order == ptx::Order::weak && access.kind != vgpu::AccessKind::atomic) return;
  if (access.space != ptx::Space::global || !access.allocation->has_two_views()) return;
  const auto note = [&](bool write) {
    std::set<std::uint32_t>& places = places_[{launch_, access.allocation->id, write}];
    vgpu::for_each_bit(access.mask, [&](unsigned lane) {
      const std::uint32_t first = access.offset[lane] / 4;
      const std::uint32_t last = (access.offset[lane] + access.bytes - 1) / 4;
      for (std::uint32_t word = first; word <= last && places.size() < kPlacesMax; ++word) {
        places.insert(word);
      }
    });
  };
  if (access.kind != vgpu::AccessKind::read) note(true);
  if (access.kind != vgpu::AccessKind::write) note(false);
}

bool SignalsOfKernels::has(const Key& key, std::uint32_t offset, std::uint32_t bytes) const {
  const auto found = places_.find(key);
  if (found == places_.end()) return false;
  if (found->second.size() >= kPlacesMax) return true;
  const auto place = found->second.lower_bound(offset / 4);
  return place != found->second.end() && *place <= (offset + std::max(bytes, 1u) - 1) / 4;
}

}  // namespace warpcheck::cudart
