// How kernels and the host may have told each other something while a kernel ran: by strong
// accesses (volatile, atomic, release and acquire) to memory that they share.
//
// The host's machine code does not say whether a load is an acquire, and what a polling host has
// seen is ordered for it, so any place that a kernel has accessed strongly counts as a signal that
// has been understood: what comes behind it is not told as a race.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "vgpu/machine/access.hpp"

namespace warpcheck::cudart {

class SignalsOfKernels final : public vgpu::Observer {
 public:
  explicit SignalsOfKernels(const vgpu::DeviceMemory& memory) : memory_(memory) {}

  void begin(std::uint32_t launch) { launch_ = launch; }
  // Nothing is asked about earlier launches any more.
  void forget() { places_.clear(); }

  // Whether a strong write, or read, of the launch was within the bytes.
  [[nodiscard]] bool wrote(std::uint32_t launch, const vgpu::Allocation& allocation,
                           std::uint32_t offset, std::uint32_t bytes) const {
    return has({launch, allocation.id, true}, offset, bytes);
  }
  [[nodiscard]] bool read(std::uint32_t launch, const vgpu::Allocation& allocation,
                          std::uint32_t offset, std::uint32_t bytes) const {
    return has({launch, allocation.id, false}, offset, bytes);
  }

  [[nodiscard]] bool watches_accesses_of(const vgpu::Program& program) const override;
  void on_access(vgpu::Access& access) override;

 private:
  struct Key {
    std::uint32_t launch = 0, allocation = 0;
    bool write = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  [[nodiscard]] bool has(const Key& key, std::uint32_t offset, std::uint32_t bytes) const;

  const vgpu::DeviceMemory& memory_;
  mutable std::map<const vgpu::Program*, bool> has_strong_accesses_;
  std::uint32_t launch_ = 0;
  std::map<Key, std::set<std::uint32_t>> places_;  // words of 4 bytes
};

}  // namespace warpcheck::cudart
