#include "vgpu/cudart/memory/multicasts.hpp"

#include <algorithm>

#include "vgpu/machine/memory/multicast_places.hpp"

namespace warpcheck::cudart {

CUresult Multicasts::create(Handle handle, const CUmulticastObjectProp& properties) {
  const bool is_valid = properties.numDevices != 0 && properties.size != 0 &&
                        properties.numDevices <= vgpu::kMulticastDevicesMax &&
                        properties.flags == 0;
  if (!is_valid) return CUDA_ERROR_INVALID_VALUE;
  objects_[handle].properties = properties;
  return CUDA_SUCCESS;
}

CUresult Multicasts::add_device(Handle handle, unsigned device) {
  const auto found = objects_.find(handle);
  if (found == objects_.end()) return CUDA_ERROR_INVALID_VALUE;
  Object& object = found->second;
  const bool is_new = std::ranges::find(object.devices, device) == object.devices.end();
  if (!is_new || object.devices.size() == object.properties.numDevices) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  object.devices.push_back(device);
  return CUDA_SUCCESS;
}

// All devices must have been added before memory is bound.
CUresult Multicasts::bind(Handle handle, const Bound& bound) {
  const auto found = objects_.find(handle);
  if (found == objects_.end()) return CUDA_ERROR_INVALID_VALUE;
  Object& object = found->second;
  if (object.devices.size() != object.properties.numDevices) return CUDA_ERROR_ILLEGAL_STATE;
  const bool is_of_team = std::ranges::find(object.devices, bound.device) != object.devices.end();
  const bool fits = bound.offset <= object.properties.size &&
                    bound.bytes <= object.properties.size - bound.offset;
  const bool is_free = std::ranges::none_of(object.bound, [&](const Bound& other) {
    return other.device == bound.device && other.offset < bound.offset + bound.bytes &&
           bound.offset < other.offset + other.bytes;
  });
  if (!is_of_team || !fits || !is_free) return CUDA_ERROR_INVALID_VALUE;
  object.bound.push_back(bound);
  for (auto& [address, mapping] : mappings_) {
    if (mapping.handle == handle) show(object, bound, address, mapping);
  }
  return CUDA_SUCCESS;
}

CUresult Multicasts::unbind(Handle handle, unsigned device, std::uint64_t offset,
                            std::uint64_t bytes, Handle& memory) {
  const auto found = objects_.find(handle);
  if (found == objects_.end()) return CUDA_ERROR_INVALID_VALUE;
  Object& object = found->second;
  const auto bound = std::ranges::find_if(object.bound, [&](const Bound& one) {
    return one.device == device && one.offset == offset && one.bytes == bytes;
  });
  if (bound == object.bound.end()) return CUDA_ERROR_INVALID_VALUE;
  const auto number =
      static_cast<unsigned>(std::ranges::find(object.devices, device) - object.devices.begin());
  for (auto& [address, mapping] : mappings_) {
    if (mapping.handle != handle) continue;
    const std::uint64_t place = vgpu::multicast_place(address + offset, number);
    for (vgpu::Allocation* const view : mapping.views) {
      if (view->address == place) view->live = false;
    }
  }
  memory = bound->memory;
  object.bound.erase(bound);
  return CUDA_SUCCESS;
}

CUresult Multicasts::release(Handle handle, std::vector<Handle>& released) {
  const auto found = objects_.find(handle);
  if (found == objects_.end() || !found->second.is_held) return CUDA_ERROR_INVALID_VALUE;
  found->second.is_held = false;
  drop_if_unused(handle, released);
  return CUDA_SUCCESS;
}

void Multicasts::drop_if_unused(Handle handle, std::vector<Handle>& released) {
  const bool is_mapped = std::ranges::any_of(
      mappings_, [&](const auto& entry) { return entry.second.handle == handle; });
  if (is_mapped || objects_[handle].is_held) return;
  for (const Bound& bound : objects_[handle].bound) released.push_back(bound.memory);
  objects_.erase(handle);
}

// Maps bound memory where the machine looks for it.
void Multicasts::show(const Object& object, const Bound& bound, std::uint64_t address,
                      Mapping& mapping) {
  if (bound.offset + bound.bytes > mapping.bytes) return;
  const auto number = static_cast<unsigned>(std::ranges::find(object.devices, bound.device) -
                                            object.devices.begin());
  vgpu::Allocation* const view = bound.map(vgpu::multicast_place(address + bound.offset, number));
  view->open_to = mapping.open_to;
  mapping.views.push_back(view);
}

CUresult Multicasts::map(std::uint64_t address, std::uint64_t bytes, Handle handle) {
  const Object& object = objects_.at(handle);
  if (bytes > object.properties.size) return CUDA_ERROR_INVALID_VALUE;
  Mapping& mapping = mappings_[address];
  mapping = {handle, bytes, 0, {}};
  for (const Bound& bound : object.bound) show(object, bound, address, mapping);
  return CUDA_SUCCESS;
}

bool Multicasts::is_mapped(std::uint64_t address, std::uint64_t bytes) const {
  const auto behind = mappings_.lower_bound(address + bytes);
  if (behind == mappings_.begin()) return false;
  const auto last = std::prev(behind);
  return last->first + last->second.bytes > address;
}

CUresult Multicasts::unmap(std::uint64_t address, std::vector<Handle>& released) {
  const auto found = mappings_.find(address);
  if (found == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  for (vgpu::Allocation* const view : found->second.views) view->live = false;
  const Handle handle = found->second.handle;
  mappings_.erase(found);
  drop_if_unused(handle, released);
  return CUDA_SUCCESS;
}

CUresult Multicasts::set_access(std::uint64_t address, std::span<const CUmemAccessDesc> accesses) {
  const auto found = mappings_.find(address);
  if (found == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  Mapping& mapping = found->second;
  for (const CUmemAccessDesc& access : accesses) {
    const auto bit = static_cast<std::uint16_t>(1u << access.location.id);
    const bool is_open = access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    mapping.open_to =
        static_cast<std::uint16_t>(is_open ? mapping.open_to | bit : mapping.open_to & ~bit);
  }
  for (vgpu::Allocation* const view : mapping.views) view->open_to = mapping.open_to;
  return CUDA_SUCCESS;
}

void Multicasts::clear() {
  objects_.clear();
  mappings_.clear();
}

}  // namespace warpcheck::cudart
