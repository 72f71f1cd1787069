#include "vgpu/check/proof/host_calls.hpp"

#include <xxhash.h>

#include <cstring>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether the host requested the allocation; shared and local memory are allocated when a
// launch begins.
bool is_asked_for(const Allocation& allocation) {
  return allocation.space != ptx::Space::shared && allocation.space != ptx::Space::local;
}

}  // namespace

void HostCalls::add(std::uint64_t number) {
  hash_ = XXH3_64bits_withSeed(&number, sizeof number, hash_);
}

void HostCalls::add(std::span<const std::byte> bytes) {
  hash_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash_);
}

void HostCalls::forget() {
  hash_ = 0;
  has_read_ = asks_after_reading_ = false;
}

void HostCalls::on_allocate(const Allocation& allocation) {
  if (!is_asked_for(allocation)) return;
  asks();
  add(allocation.bytes);
}

void HostCalls::on_free(const Allocation& allocation) {
  if (is_asked_for(allocation)) add(allocation.address);
}

void HostCalls::on_sync(const Sync& sync) {
  if (sync.kind != Sync::Kind::kernel_start) return;
  asks();
  add(std::as_bytes(std::span(sync.program->kernel)));
  for (const Dim3& extents : {sync.grid, sync.block, sync.cluster}) {
    for (const std::uint32_t extent : {extents.x, extents.y, extents.z}) add(extent);
  }
  add(sync.parameters);
}

void HostCalls::on_host_access(const HostAccess& access) {
  asks();
  has_read_ = has_read_ || !access.write;
  add(access.allocation->address);
  add(access.offset);
  add(access.bytes);
  add(access.write ? 1 : 0);
}

void HostCalls::on_device_copy(const DeviceCopy& copy) {
  asks();
  add(copy.target->address);
  add(copy.target_offset);
  add(copy.source->address);
  add(copy.source_offset);
  add(copy.bytes);
}

void HostCalls::on_opaque_operation(std::string_view call) {
  asks();
  add(std::as_bytes(std::span(call)));
}

void Rehearsal::on_host_access(const HostAccess& access) {
  HostCalls::on_host_access(access);
  if (!access.write && access.bytes == result_.size())
    std::memcpy(access.allocation->data + access.offset, result_.data(), result_.size());
}

}  // namespace warpcheck::vgpu
