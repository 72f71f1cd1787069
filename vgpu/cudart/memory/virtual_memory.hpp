// Addresses that a program reserves, memory that it creates without any, and where it has mapped
// which (CUDA Driver API, "Virtual Memory Management").
//
// A mapping is an allocation to everybody else: found by its addresses, open to the devices that
// cuMemSetAccess names.  Mappings of one handle are the same memory.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Allocations;

class VirtualMemory {
 public:
  // Of what is created and mapped, as on devices: sizes and addresses are multiples of it.
  static constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20;

  // Answers are the driver's.  hint: an address that is given if it is free.
  CUresult reserve(CUdeviceptr& address, std::uint64_t bytes, std::uint64_t alignment,
                   CUdeviceptr hint);
  CUresult free_address(CUdeviceptr address, std::uint64_t bytes);

  // allocations: of the device that the properties name; they outlive this, or clear() is called.
  CUresult create(CUmemGenericAllocationHandle& handle, std::uint64_t bytes,
                  const CUmemAllocationProp& properties, Allocations& allocations);
  CUresult release(CUmemGenericAllocationHandle handle);
  CUresult retain(CUmemGenericAllocationHandle& handle, CUdeviceptr address);
  // nullptr: no such handle.
  [[nodiscard]] const CUmemAllocationProp* properties(CUmemGenericAllocationHandle handle) const;

  CUresult map(CUdeviceptr address, std::uint64_t bytes, CUmemGenericAllocationHandle handle);
  CUresult unmap(CUdeviceptr address, std::uint64_t bytes);
  // accesses: of devices that exist.
  CUresult set_access(CUdeviceptr address, std::uint64_t bytes,
                      std::span<const CUmemAccessDesc> accesses);
  CUresult access(unsigned long long& flags, unsigned device, CUdeviceptr address) const;

  void clear();
  // What was created on the device is gone, wherever it is mapped.
  void forget(unsigned device);

 private:
  struct Created {
    CUmemAllocationProp properties{};
    Allocations* allocations = nullptr;
    vgpu::Allocation* memory = nullptr;
    unsigned references = 0;  // of the program; 0: the handle is none any more
    unsigned mappings = 0;
  };
  struct Mapping {
    CUmemGenericAllocationHandle handle = 0;
    vgpu::Allocation* view = nullptr;
  };
  using Mappings = std::map<CUdeviceptr, Mapping>;

  [[nodiscard]] bool is_reserved(CUdeviceptr address, std::uint64_t bytes) const;
  // The first of the mappings that make up the whole range; end(): they do not.
  Mappings::iterator mappings_of(CUdeviceptr address, std::uint64_t bytes);
  Mappings::iterator unmap(Mappings::iterator mapping);
  [[nodiscard]] Mappings::const_iterator mapping_at(CUdeviceptr address) const;
  void free_if_unused(CUmemGenericAllocationHandle handle);

  std::map<CUdeviceptr, std::uint64_t> reserved_;  // bytes by address
  std::map<CUmemGenericAllocationHandle, Created> created_;
  Mappings mappings_;
  CUmemGenericAllocationHandle last_handle_ = 0;
  CUdeviceptr next_address_ = vgpu::kVirtualBase;
};

}  // namespace warpcheck::cudart
