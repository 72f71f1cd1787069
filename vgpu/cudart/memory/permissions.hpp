// The permissions objects of NVTX (nvToolsExtMem.h): which accesses a program allows its kernels.
//
// An object that is bound to a stream decides first, then that of the device, then that of all
// devices.  What none of them mentions may be accessed in every way.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "vgpu/machine/memory/regions/access_rights.hpp"

namespace warpcheck::cudart {

class Permissions {
 public:
  using Handle = std::uint64_t;
  static constexpr Handle kProcessWide = 0, kAllDevices = 1, kFirstDevice = 2, kFirstCreated = 64;
  static constexpr std::uint32_t kReset = 8;  // the others are those of AccessRights

  [[nodiscard]] static Handle of_device(unsigned device) { return kFirstDevice + device; }
  // excluded: rights that the objects of the device and of all devices do not give
  Handle create(std::uint8_t excluded);
  // Return false if there is no such object.
  bool destroy(Handle handle);
  bool reset(Handle handle);
  bool assign(Handle handle, const vgpu::Allocation& object, std::uint32_t flags);
  // For all memory of a device; no number: of all devices.
  bool assign_device(Handle handle, std::optional<unsigned> device, std::uint32_t flags);
  // Binds the object, as it is now, to the stream of the calling thread's next launch.
  bool bind(Handle handle, std::uint8_t excluded);
  void unbind();

  // Returns what the launch that the calling thread requests may do; nullptr: everything.
  std::shared_ptr<const vgpu::AccessRights> of_launch(unsigned device, const void* stream);

  // The region or allocation does not exist any more.
  void forget(const vgpu::Allocation& object);
  void clear() { *this = {}; }

 private:
  struct Set {
    std::map<const vgpu::Allocation*, std::uint8_t> of_object;
    std::array<std::optional<std::uint8_t>, vgpu::kDevicesMax> of_memory_of;  // a device
    std::uint8_t excluded = 0;
  };
  struct Binding {
    Handle handle = 0;
    Set set;
    const void* stream = nullptr;  // null: that of the next launch
  };
  [[nodiscard]] Set* find(Handle handle);

  std::map<Handle, Set> sets_;  // those of the devices only if they are not empty
  Handle next_ = kFirstCreated;
  std::map<std::thread::id, Binding> bound_;
};

}  // namespace warpcheck::cudart
