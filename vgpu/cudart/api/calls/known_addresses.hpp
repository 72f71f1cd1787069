// What addresses of the program are, for reports of the calls that got them as arguments.
#pragma once

#include <cstdint>
#include <string>

namespace warpcheck::vgpu {
struct Allocation;
}

namespace warpcheck::cudart {

// A pointer up to this far past an allocation still counts as meant for it, and so for the device.
inline constexpr std::uint64_t kOverrunBytesMax = std::uint64_t{1} << 20;

class KnownAddresses {
 public:
  virtual ~KnownAddresses() = default;
  // Returns the live memory of a device that contains the address; null: there is none.
  [[nodiscard]] virtual const vgpu::Allocation* memory_at(const void* address) const = 0;
  // Returns whether it is in memory of a device, freed memory included.  Such an address is the
  // same in every run.
  [[nodiscard]] virtual bool is_of_device(const void* address) const = 0;
  // Returns the demangled name of the kernel that has the address as its handle; empty: none has.
  [[nodiscard]] virtual std::string kernel_at(const void* address) const = 0;
};

}  // namespace warpcheck::cudart
