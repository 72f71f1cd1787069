// Multicast objects (CUDA Driver API, "Multicast Object Management"): an address that stands for
// memory of several devices, for multimem instructions (vgpu/machine/memory/multicast_places.hpp).
//
// Where an object is mapped there is no memory.  Each memory that is bound to it is mapped at the
// place that the machine expects, as soon as both are known.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Multicasts {
 public:
  using Handle = CUmemGenericAllocationHandle;
  // Memory that is bound, and how it is mapped at an address.
  struct Bound {
    Handle memory = 0;
    unsigned device = 0;
    std::uint64_t offset = 0, bytes = 0;
    std::function<vgpu::Allocation*(std::uint64_t address)> map;
  };

  // The functions return the errors of the driver.
  CUresult create(Handle handle, const CUmulticastObjectProp& properties);
  [[nodiscard]] bool has(Handle handle) const { return objects_.contains(handle); }
  CUresult add_device(Handle handle, unsigned device);
  CUresult bind(Handle handle, const Bound& bound);
  // memory: receives what was bound
  CUresult unbind(Handle handle, unsigned device, std::uint64_t offset, std::uint64_t bytes,
                  Handle& memory);
  // released: receives the memories that were bound to an object that is gone.
  CUresult release(Handle handle, std::vector<Handle>& released);

  CUresult map(std::uint64_t address, std::uint64_t bytes, Handle handle);
  [[nodiscard]] bool is_mapped(std::uint64_t address, std::uint64_t bytes) const;
  CUresult unmap(std::uint64_t address, std::vector<Handle>& released);
  CUresult set_access(std::uint64_t address, std::span<const CUmemAccessDesc> accesses);

  void clear();

 private:
  struct Object {
    CUmulticastObjectProp properties{};
    std::vector<unsigned> devices;
    std::vector<Bound> bound;
    bool is_held = true;  // by the program
  };
  struct Mapping {
    Handle handle = 0;
    std::uint64_t bytes = 0;
    std::uint16_t open_to = 0;
    std::vector<vgpu::Allocation*> views;
  };

  static void show(const Object& object, const Bound& bound, std::uint64_t address,
                   Mapping& mapping);
  void drop_if_unused(Handle handle, std::vector<Handle>& released);

  std::map<Handle, Object> objects_;
  std::map<std::uint64_t, Mapping> mappings_;  // by address
};

}  // namespace warpcheck::cudart
