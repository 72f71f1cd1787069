#include "vgpu/cudart/memory/permissions.hpp"

#include <utility>

namespace warpcheck::cudart {

using vgpu::AccessRights;

Permissions::Set* Permissions::find(Handle handle) {
  if (handle == kProcessWide) handle = kAllDevices;  // for kernels
  if (handle < kFirstDevice + vgpu::kDevicesMax) return &sets_[handle];
  const auto found = sets_.find(handle);
  return found == sets_.end() ? nullptr : &found->second;
}

Permissions::Handle Permissions::create(std::uint8_t excluded) {
  sets_[next_].excluded = excluded;
  return next_++;
}

bool Permissions::destroy(Handle handle) {
  std::erase_if(bound_, [&](const auto& one) { return one.second.handle == handle; });
  return handle >= kFirstCreated && sets_.erase(handle) != 0;
}

bool Permissions::reset(Handle handle) {
  Set* const set = find(handle);
  if (set == nullptr) return false;
  const std::uint8_t excluded = set->excluded;
  *set = {};
  set->excluded = excluded;
  return true;
}

bool Permissions::assign(Handle handle, const vgpu::Allocation& object, std::uint32_t flags) {
  Set* const set = find(handle);
  if (set == nullptr) return false;
  if ((flags & kReset) != 0) {
    set->of_object.erase(&object);
  } else {
    set->of_object[&object] = static_cast<std::uint8_t>(flags & AccessRights::kAll);
  }
  return true;
}

bool Permissions::assign_device(Handle handle, std::optional<unsigned> device,
                                std::uint32_t flags) {
  Set* const set = find(handle);
  if (set == nullptr || (device && *device >= vgpu::kDevicesMax)) return false;
  std::optional<std::uint8_t> rights;
  if ((flags & kReset) == 0) rights = static_cast<std::uint8_t>(flags & AccessRights::kAll);
  if (device) {
    set->of_memory_of[*device] = rights;
  } else {
    set->of_memory_of.fill(rights);
  }
  return true;
}

bool Permissions::bind(Handle handle, std::uint8_t excluded) {
  const Set* const set = handle < kFirstCreated ? nullptr : find(handle);
  if (set == nullptr) return false;
  Binding binding{.handle = handle, .set = *set};
  binding.set.excluded |= excluded;
  bound_[std::this_thread::get_id()] = std::move(binding);
  return true;
}

void Permissions::unbind() { bound_.erase(std::this_thread::get_id()); }

std::shared_ptr<const AccessRights> Permissions::of_launch(unsigned device, const void* stream) {
  if (sets_.empty() && bound_.empty()) return nullptr;
  Set own;
  const auto bound = bound_.find(std::this_thread::get_id());
  if (bound != bound_.end() && stream != nullptr) {
    Binding& binding = bound->second;
    if (binding.stream == nullptr) binding.stream = stream;
    if (binding.stream == stream) own = binding.set;
  }
  const auto given = static_cast<std::uint8_t>(~own.excluded);
  auto rights = std::make_shared<AccessRights>();
  rights->of_others.fill(AccessRights::kAll);
  for (const Handle handle : {kAllDevices, of_device(device)}) {  // the later one decides
    const auto found = sets_.find(handle);
    if (found == sets_.end()) continue;
    for (const auto& [object, flags] : found->second.of_object) {
      rights->of_object[object] = flags & given;
    }
    for (unsigned i = 0; i < vgpu::kDevicesMax; ++i) {
      rights->of_others[i] = found->second.of_memory_of[i].value_or(rights->of_others[i]);
    }
  }
  for (unsigned i = 0; i < vgpu::kDevicesMax; ++i) {
    rights->of_others[i] = own.of_memory_of[i].value_or(rights->of_others[i] & given);
  }
  for (const auto& [object, flags] : own.of_object) rights->of_object[object] = flags;
  return rights;
}

void Permissions::forget(const vgpu::Allocation& object) {
  for (auto& [handle, set] : sets_) set.of_object.erase(&object);
  for (auto& [thread, binding] : bound_) binding.set.of_object.erase(&object);
}

}  // namespace warpcheck::cudart
