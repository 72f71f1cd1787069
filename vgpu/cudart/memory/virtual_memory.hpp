// Reserved addresses, memory created without addresses, and mappings of that memory (CUDA Driver
// API, "Virtual Memory Management").
//
// For all other code, a mapping is an allocation: found by its addresses, and accessible to the
// devices that cuMemSetAccess names.  Mappings of one handle are the same memory.  So are handles
// of other processes that were imported from an exported one (process_memory.hpp).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "vgpu/cudart/memory/multicasts.hpp"
#include "vgpu/cudart/memory/process_memory.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Allocations;

class VirtualMemory {
 public:
  // Sizes and addresses of created and mapped memory are multiples of this, as on devices.
  static constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20;

  // The functions return the errors of the driver. hint: an address that is used if it is free.
  CUresult reserve(CUdeviceptr& address, std::uint64_t bytes, std::uint64_t alignment,
                   CUdeviceptr hint);
  CUresult free_address(CUdeviceptr address, std::uint64_t bytes);

  // allocations: of the device in the properties; it must live until clear() or the end of this
  // object.
  CUresult create(CUmemGenericAllocationHandle& handle, std::uint64_t bytes,
                  const CUmemAllocationProp& properties, Allocations& allocations);
  CUresult release(CUmemGenericAllocationHandle handle);
  CUresult retain(CUmemGenericAllocationHandle& handle, CUdeviceptr address);
  // Gives the memory to other processes, as a file descriptor, which the program closes.  Its
  // properties must have announced that.
  CUresult export_memory(int& descriptor, CUmemGenericAllocationHandle handle,
                         ProcessMemory& process_memory);
  // What a process has exported, this one included; its bytes are not known to be unwritten.
  //   allocations_of: of an existing device; null: the device does not exist
  using AllocationsOf = std::function<Allocations*(int device)>;
  CUresult import_memory(CUmemGenericAllocationHandle& handle, int descriptor,
                         ProcessMemory& process_memory, const AllocationsOf& allocations_of);
  // Returns nullptr if there is no such handle.
  [[nodiscard]] const CUmemAllocationProp* properties(CUmemGenericAllocationHandle handle) const;

  CUresult map(CUdeviceptr address, std::uint64_t bytes, CUmemGenericAllocationHandle handle);
  CUresult unmap(CUdeviceptr address, std::uint64_t bytes);
  // accesses: of existing devices.
  CUresult set_access(CUdeviceptr address, std::uint64_t bytes,
                      std::span<const CUmemAccessDesc> accesses);
  CUresult access(unsigned long long& flags, unsigned device, CUdeviceptr address) const;

  // Multicast objects, whose handles are used as those of memory.
  CUresult create_multicast(CUmemGenericAllocationHandle& handle,
                            const CUmulticastObjectProp& properties);
  CUresult add_multicast_device(CUmemGenericAllocationHandle handle, unsigned device) {
    return multicasts_.add_device(handle, device);
  }
  // Only all that cuMemCreate has made can be bound.
  CUresult bind_multicast(CUmemGenericAllocationHandle handle, std::uint64_t offset,
                          CUmemGenericAllocationHandle memory, std::uint64_t memory_offset,
                          std::uint64_t bytes);
  CUresult bind_multicast_address(CUmemGenericAllocationHandle handle, std::uint64_t offset,
                                  CUdeviceptr address, std::uint64_t bytes);
  CUresult unbind_multicast(CUmemGenericAllocationHandle handle, unsigned device,
                            std::uint64_t offset, std::uint64_t bytes);

  void clear();
  // Drops what was created on the device, with all its mappings.
  void forget(unsigned device);

 private:
  struct Created {
    CUmemAllocationProp properties{};
    Allocations* allocations = nullptr;
    vgpu::Allocation* memory = nullptr;
    unsigned references = 0;  // held by the program; 0: the handle is invalid
    unsigned mappings = 0;
    std::shared_ptr<ProcessFile> file = nullptr;  // null: no other process has it
  };
  struct Mapping {
    CUmemGenericAllocationHandle handle = 0;
    vgpu::Allocation* view = nullptr;
  };
  using Mappings = std::map<CUdeviceptr, Mapping>;

  [[nodiscard]] bool is_reserved(CUdeviceptr address, std::uint64_t bytes) const;
  // Returns the first of the mappings that cover the whole range; end(): the range is not covered.
  Mappings::iterator mappings_of(CUdeviceptr address, std::uint64_t bytes);
  Mappings::iterator unmap(Mappings::iterator mapping);
  [[nodiscard]] Mappings::const_iterator mapping_at(CUdeviceptr address) const;
  void free_if_unused(CUmemGenericAllocationHandle handle);
  // Gives memories back that a multicast object held.
  void let_go(const std::vector<CUmemGenericAllocationHandle>& memories);

  std::map<CUdeviceptr, std::uint64_t> reserved_;  // size by address
  std::map<CUmemGenericAllocationHandle, Created> created_;
  Mappings mappings_;
  Multicasts multicasts_;
  CUmemGenericAllocationHandle last_handle_ = 0;
  CUdeviceptr next_address_ = vgpu::kVirtualBase;
};

}  // namespace warpcheck::cudart
