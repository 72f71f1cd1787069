#include "vgpu/cudart/memory/virtual_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/program/refusal.hpp"

namespace warpcheck::cudart {
namespace {

constexpr int kExportable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr std::string_view kImportedBy = "cuMemImportFromShareableHandle";

bool is_multiple(std::uint64_t value) { return value % VirtualMemory::kGranularity == 0; }

// Returns whether it is a valid size and address for a request.
bool is_range(CUdeviceptr address, std::uint64_t bytes) {
  return bytes != 0 && is_multiple(address) && is_multiple(bytes) && bytes <= vgpu::kVirtualEnd &&
         address <= vgpu::kVirtualEnd - bytes;
}

}  // namespace

// ---- addresses ----

// Addresses are reused only if the program requests it.
CUresult VirtualMemory::reserve(CUdeviceptr& address, std::uint64_t bytes, std::uint64_t alignment,
                                CUdeviceptr hint) {
  if (!is_range(0, bytes) || (alignment != 0 && !std::has_single_bit(alignment))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  alignment = std::max(alignment, kGranularity);
  const auto is_free = [&](CUdeviceptr at) {
    const auto behind = reserved_.lower_bound(at + bytes);
    if (behind == reserved_.begin()) return true;
    const auto last = std::prev(behind);
    return last->first + last->second <= at;
  };
  const bool is_good =
      hint >= vgpu::kVirtualBase && hint % alignment == 0 && is_range(hint, bytes) && is_free(hint);
  const CUdeviceptr next = (next_address_ + alignment - 1) / alignment * alignment;
  const CUdeviceptr given = is_good ? hint : next;
  if (!is_range(given, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  reserved_[given] = bytes;
  // A gap between two ranges makes overruns of one miss the other.
  next_address_ = std::max(next_address_, given + bytes + kGranularity);
  address = given;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::free_address(CUdeviceptr address, std::uint64_t bytes) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto mapping = mappings_.lower_bound(address);
  if (mapping != mappings_.end() && mapping->first < address + bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (multicasts_.is_mapped(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  reserved_.erase(found);
  return CUDA_SUCCESS;
}

// Returns whether the range is in one reservation, or in several adjacent ones.
bool VirtualMemory::is_reserved(CUdeviceptr address, std::uint64_t bytes) const {
  auto one = reserved_.upper_bound(address);
  if (one == reserved_.begin()) return false;
  const CUdeviceptr end = address + bytes;
  for (--one; one != reserved_.end() && one->first <= address; ++one) {
    if (one->first + one->second >= end) return true;
    address = std::max(address, one->first + one->second);
  }
  return false;
}

// ---- memory ----

CUresult VirtualMemory::create(CUmemGenericAllocationHandle& handle, std::uint64_t bytes,
                               const CUmemAllocationProp& properties, Allocations& allocations) {
  if (!is_range(0, bytes)) return CUDA_ERROR_INVALID_VALUE;
  vgpu::Allocation* const memory = allocations.allocate_unmapped(bytes);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  handle = ++last_handle_;
  created_[handle] = {properties, &allocations, memory, 1, 0};
  return CUDA_SUCCESS;
}

const CUmemAllocationProp* VirtualMemory::properties(CUmemGenericAllocationHandle handle) const {
  const auto found = created_.find(handle);
  const bool is_one = found != created_.end() && found->second.references != 0;
  return is_one ? &found->second.properties : nullptr;
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  if (multicasts_.has(handle)) {
    std::vector<CUmemGenericAllocationHandle> memories;
    const CUresult result = multicasts_.release(handle, memories);
    let_go(memories);
    return result;
  }
  if (properties(handle) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  --created_[handle].references;
  free_if_unused(handle);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::retain(CUmemGenericAllocationHandle& handle, CUdeviceptr address) {
  const auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  handle = mapping->second.handle;
  ++created_[handle].references;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::export_memory(int& descriptor, CUmemGenericAllocationHandle handle,
                                      ProcessMemory& process_memory) {
  if (multicasts_.has(handle)) {
    throw vgpu::Refusal("cuMemExportToShareableHandle of a multicast object");
  }
  const CUmemAllocationProp* const known = properties(handle);
  if (known == nullptr || number_of(known->requestedHandleTypes) != kExportable) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Created& created = created_[handle];
  if (created.file == nullptr) {
    created.file = process_memory.file_of(*created.allocations, *created.memory, kImportedBy);
    if (created.file == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    std::memcpy(ProcessMemory::notes(*created.file).data(), known, sizeof *known);
  }
  descriptor = created.file->descriptor();
  return descriptor < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

CUresult VirtualMemory::import_memory(CUmemGenericAllocationHandle& handle, int descriptor,
                                      ProcessMemory& process_memory,
                                      const AllocationsOf& allocations_of) {
  const std::optional<ProcessFileHandle> named = ProcessFile::handle_of(descriptor);
  if (!named) return CUDA_ERROR_INVALID_VALUE;
  const auto own = std::ranges::find_if(created_, [&](const auto& entry) {
    return entry.second.file != nullptr && entry.second.file->handle() == *named;
  });
  if (own != created_.end()) {
    handle = own->first;
    ++own->second.references;
    return CUDA_SUCCESS;
  }
  const std::shared_ptr<ProcessFile> file = ProcessMemory::open_file(*named);
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUmemAllocationProp properties;
  std::memcpy(&properties, ProcessMemory::notes(*file).data(), sizeof properties);
  Allocations* const allocations = allocations_of(properties.location.id);
  if (allocations == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = create(handle, named->bytes, properties, *allocations);
  if (result != CUDA_SUCCESS) return result;
  Created& created = created_[handle];
  created.file = file;
  process_memory.share(*allocations, *created.memory, file, kImportedBy);
  return CUDA_SUCCESS;
}

void VirtualMemory::free_if_unused(CUmemGenericAllocationHandle handle) {
  const Created& created = created_[handle];
  if (created.references != 0 || created.mappings != 0) return;
  created.allocations->free_unmapped(*created.memory);
  created_.erase(handle);
}

// ---- mappings ----

VirtualMemory::Mappings::const_iterator VirtualMemory::mapping_at(CUdeviceptr address) const {
  const auto behind = mappings_.upper_bound(address);
  if (behind == mappings_.begin()) return mappings_.end();
  const auto found = std::prev(behind);
  return address - found->first < found->second.view->bytes ? found : mappings_.end();
}

VirtualMemory::Mappings::iterator VirtualMemory::mappings_of(CUdeviceptr address,
                                                             std::uint64_t bytes) {
  const auto first = mappings_.find(address);
  const CUdeviceptr end = address + bytes;
  for (auto one = first; one != mappings_.end() && one->first == address; ++one) {
    address += one->second.view->bytes;
    if (address == end) return first;
  }
  return mappings_.end();
}

CUresult VirtualMemory::map(CUdeviceptr address, std::uint64_t bytes,
                            CUmemGenericAllocationHandle handle) {
  const bool is_multicast = multicasts_.has(handle);
  if (!is_range(address, bytes) || !is_reserved(address, bytes) ||
      (!is_multicast && properties(handle) == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto next = mappings_.lower_bound(address);
  const bool is_free = (next == mappings_.end() || next->first >= address + bytes) &&
                       mapping_at(address) == mappings_.end() &&
                       !multicasts_.is_mapped(address, bytes);
  if (is_multicast) {
    return is_free ? multicasts_.map(address, bytes, handle) : CUDA_ERROR_INVALID_VALUE;
  }
  Created& created = created_[handle];
  if (!is_free || bytes > created.memory->bytes) return CUDA_ERROR_INVALID_VALUE;
  if (bytes != created.memory->bytes) {
    throw vgpu::Refusal("cuMemMap of a part of what cuMemCreate has made");
  }
  mappings_[address] = {handle, created.allocations->map(*created.memory, address)};
  ++created.mappings;
  return CUDA_SUCCESS;
}

VirtualMemory::Mappings::iterator VirtualMemory::unmap(Mappings::iterator mapping) {
  const CUmemGenericAllocationHandle handle = mapping->second.handle;
  mapping->second.view->live = false;
  --created_[handle].mappings;
  free_if_unused(handle);
  return mappings_.erase(mapping);
}

// Does not wait for pending operations of the device; real devices need not do so either.
CUresult VirtualMemory::unmap(CUdeviceptr address, std::uint64_t bytes) {
  if (multicasts_.is_mapped(address, bytes)) {
    std::vector<CUmemGenericAllocationHandle> memories;
    const CUresult result = multicasts_.unmap(address, memories);
    let_go(memories);
    return result;
  }
  auto mapping = mappings_of(address, bytes);
  if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  while (mapping != mappings_.end() && mapping->first < address + bytes) mapping = unmap(mapping);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(CUdeviceptr address, std::uint64_t bytes,
                                   std::span<const CUmemAccessDesc> accesses) {
  if (multicasts_.is_mapped(address, bytes)) return multicasts_.set_access(address, accesses);
  auto mapping = mappings_of(address, bytes);
  if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  for (; mapping != mappings_.end() && mapping->first < address + bytes; ++mapping) {
    vgpu::Allocation& view = *mapping->second.view;
    for (const CUmemAccessDesc& access : accesses) {
      const auto bit = static_cast<std::uint16_t>(1u << access.location.id);
      const bool is_open = access.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
      view.open_to = static_cast<std::uint16_t>(is_open ? view.open_to | bit : view.open_to & ~bit);
      view.read_only = access.flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
    }
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::access(unsigned long long& flags, unsigned device,
                               CUdeviceptr address) const {
  const auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  const vgpu::Allocation& view = *mapping->second.view;
  const bool is_open = (view.open_to >> device & 1) != 0;
  flags = !is_open         ? CU_MEM_ACCESS_FLAGS_PROT_NONE
          : view.read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ
                           : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

// ---- multicast objects ----

CUresult VirtualMemory::create_multicast(CUmemGenericAllocationHandle& handle,
                                         const CUmulticastObjectProp& properties) {
  if (!is_multiple(properties.size)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = multicasts_.create(last_handle_ + 1, properties);
  if (result == CUDA_SUCCESS) handle = ++last_handle_;
  return result;
}

CUresult VirtualMemory::bind_multicast(CUmemGenericAllocationHandle handle, std::uint64_t offset,
                                       CUmemGenericAllocationHandle memory,
                                       std::uint64_t memory_offset, std::uint64_t bytes) {
  if (properties(memory) == nullptr || !is_multiple(offset)) return CUDA_ERROR_INVALID_VALUE;
  Created& created = created_[memory];
  if (memory_offset > created.memory->bytes || bytes > created.memory->bytes - memory_offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (memory_offset != 0 || bytes != created.memory->bytes) {
    throw vgpu::Refusal("cuMulticastBindMem of a part of what cuMemCreate has made");
  }
  const Multicasts::Bound bound{
      memory, created.memory->device, offset, bytes,
      [allocations = created.allocations, of = created.memory](std::uint64_t address) {
        return allocations->map(*of, address);
      }};
  const CUresult result = multicasts_.bind(handle, bound);
  if (result == CUDA_SUCCESS) ++created.mappings;
  return result;
}

CUresult VirtualMemory::bind_multicast_address(CUmemGenericAllocationHandle handle,
                                               std::uint64_t offset, CUdeviceptr address,
                                               std::uint64_t bytes) {
  const auto mapping = mappings_.find(address);
  if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  return bind_multicast(handle, offset, mapping->second.handle, 0, bytes);
}

CUresult VirtualMemory::unbind_multicast(CUmemGenericAllocationHandle handle, unsigned device,
                                         std::uint64_t offset, std::uint64_t bytes) {
  CUmemGenericAllocationHandle memory = 0;
  const CUresult result = multicasts_.unbind(handle, device, offset, bytes, memory);
  if (result == CUDA_SUCCESS) let_go({memory});
  return result;
}

void VirtualMemory::let_go(const std::vector<CUmemGenericAllocationHandle>& memories) {
  for (const CUmemGenericAllocationHandle memory : memories) {
    --created_[memory].mappings;
    free_if_unused(memory);
  }
}

// ---- the end ----

void VirtualMemory::clear() {
  reserved_.clear();
  created_.clear();
  mappings_.clear();
  multicasts_.clear();
  last_handle_ = 0;
  next_address_ = vgpu::kVirtualBase;
}

void VirtualMemory::forget(unsigned device) {
  for (auto& [handle, created] : created_) {
    if (created.memory->device == device) created.references = 0;
  }
  for (auto one = mappings_.begin(); one != mappings_.end();) {
    one = one->second.view->device == device ? unmap(one) : std::next(one);
  }
  for (auto one = created_.begin(); one != created_.end();) {
    const auto next = std::next(one);
    if (one->second.references == 0) free_if_unused(one->first);
    one = next;
  }
}

}  // namespace warpcheck::cudart
