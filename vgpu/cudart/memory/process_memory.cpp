#include "vgpu/cudart/memory/process_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/machine/memory/process_lock.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::string_view kOpenedBy = "cudaIpcOpenMemHandle";
constexpr std::size_t kPage = 4096;

// The lock has half of the first page, notes() the other; the bytes follow, with the slack that
// every allocation has.
constexpr std::size_t kDataAt = 2 * kPage;
static_assert(vgpu::kRowSlack <= kPage && sizeof(vgpu::ProcessLock) <= kPage / 2);

std::size_t file_bytes_of(std::uint64_t bytes) {
  return kDataAt + (bytes + kPage - 1) / kPage * kPage + kPage;
}

}  // namespace

void ProcessMemory::share(Allocations& allocations, vgpu::Allocation& allocation,
                          const std::shared_ptr<ProcessFile>& file, std::string_view by) {
  memory_.move(allocation, file->data() + kDataAt,
               reinterpret_cast<vgpu::ProcessLock*>(file->data()));
  mapped_[&allocation] = file;
  allocations.fill_from_host(allocation);
  ExecSession::instance()->not_checked(
      fmt::format("what processes do to memory that they share ({}): it is not known what orders "
                  "them, nor what the others have written",
                  by));
}

std::shared_ptr<ProcessFile> ProcessMemory::file_of(Allocations& allocations,
                                                    vgpu::Allocation& allocation,
                                                    std::string_view by) {
  std::shared_ptr<ProcessFile>& file = exported_[&allocation];
  if (file == nullptr) {
    file = ProcessFile::make(ProcessFileHandle::What::memory, allocation.bytes,
                             file_bytes_of(allocation.bytes));
    if (file == nullptr) {
      exported_.erase(&allocation);
      return nullptr;
    }
    new (file->data()) vgpu::ProcessLock;
    std::memcpy(file->data() + kDataAt, allocation.data, allocation.bytes);
    share(allocations, allocation, file, by);
  }
  return file;
}

std::shared_ptr<ProcessFile> ProcessMemory::open_file(const ProcessFileHandle& handle) {
  if (handle.what != ProcessFileHandle::What::memory) return nullptr;
  return ProcessFile::open(handle, file_bytes_of(handle.bytes));
}

std::span<std::byte> ProcessMemory::notes(const ProcessFile& file) {
  return {file.data() + kPage / 2, kPage / 2};
}

cudaError_t ProcessMemory::get_handle(Allocations& allocations, vgpu::Allocation& allocation,
                                      cudaIpcMemHandle_t& handle) {
  const std::shared_ptr<ProcessFile> file = file_of(allocations, allocation, kOpenedBy);
  if (file == nullptr) return cudaErrorMapBufferObjectFailed;
  handle = to_handle<cudaIpcMemHandle_t>(file->handle());
  return cudaSuccess;
}

cudaError_t ProcessMemory::open(Allocations& allocations, const cudaIpcMemHandle_t& handle,
                                void** pointer) {
  const ProcessFileHandle known = in_handle<ProcessFileHandle>(handle);
  if (known.what != ProcessFileHandle::What::memory) return cudaErrorInvalidResourceHandle;
  if (known.process == ::getpid()) return cudaErrorDeviceUninitialized;
  const auto opened = opened_.find(known);
  if (opened != opened_.end()) {
    ++opened->second.count;
    *pointer = reinterpret_cast<void*>(opened->second.allocation->address);
    return cudaSuccess;
  }
  const auto file = open_file(known);
  if (file == nullptr) return cudaErrorMapBufferObjectFailed;
  vgpu::Allocation* const allocation = allocations.allocate(known.bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  share(allocations, *allocation, file, kOpenedBy);
  opened_[known] = {allocation, 1};
  *pointer = reinterpret_cast<void*>(allocation->address);
  return cudaSuccess;
}

cudaError_t ProcessMemory::close(const void* pointer, const vgpu::Allocation*& unused) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const auto opened = std::ranges::find_if(
      opened_, [&](const auto& one) { return one.second.allocation->address == address; });
  if (opened == opened_.end()) return cudaErrorInvalidValue;
  if (--opened->second.count != 0) return cudaSuccess;
  unused = opened->second.allocation;
  opened_.erase(opened);
  return cudaSuccess;
}

bool ProcessMemory::has_opened(const vgpu::Allocation& allocation) const {
  return std::ranges::any_of(opened_,
                             [&](const auto& one) { return one.second.allocation == &allocation; });
}

void ProcessMemory::forget_all() {
  exported_.clear();
  opened_.clear();
  mapped_.clear();
}

}  // namespace warpcheck::cudart
