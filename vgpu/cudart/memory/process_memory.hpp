// Device memory that processes of one program share: cudaIpcGetMemHandle, cudaIpcOpenMemHandle,
// shareable handles of cuMemCreate's memory (virtual_memory.hpp), and memory of pools.
//
// The bytes of an exported allocation move into a file (process_files.hpp).  Processes that open
// the handle map it as an allocation of their own.  The machines of several processes then work
// concurrently on the same bytes; atomic operations hold a lock in the file.  The checkers of one
// process do not see the accesses of another, so all bytes count as written, and the order between
// processes is not checked.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "vgpu/cudart/memory/process_files.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Allocations;

class ProcessMemory {
 public:
  explicit ProcessMemory(vgpu::DeviceMemory& memory) : memory_(memory) {}

  // allocation: live, of cudaMalloc.  The same handle each time.
  cudaError_t get_handle(Allocations& allocations, vgpu::Allocation& allocation,
                         cudaIpcMemHandle_t& handle);
  // The file with the bytes of an allocation, from now on; null: there is no room for it.  The same
  // file each time.
  //   by: the function by which other processes open it
  std::shared_ptr<ProcessFile> file_of(Allocations& allocations, vgpu::Allocation& allocation,
                                       std::string_view by);
  // Gives an allocation of as many bytes the bytes of a file.
  void share(Allocations& allocations, vgpu::Allocation& allocation,
             const std::shared_ptr<ProcessFile>& file, std::string_view by);
  // Opens the file of an allocation of another process; null: there is none.
  static std::shared_ptr<ProcessFile> open_file(const ProcessFileHandle& handle);
  // Of such a file: free for what the process that made it wants to say.
  static std::span<std::byte> notes(const ProcessFile& file);

  // In memory of the device that the allocations are of.
  cudaError_t open(Allocations& allocations, const cudaIpcMemHandle_t& handle, void** pointer);
  // The allocation that becomes unused, which the caller frees; null: it is still used.
  cudaError_t close(const void* pointer, const vgpu::Allocation*& unused);
  [[nodiscard]] bool is_opened(const vgpu::Allocation& allocation) const {
    return !opened_.empty() && has_opened(allocation);
  }
  // A freed allocation has another handle should its address come back.
  void freed(const vgpu::Allocation& allocation) { exported_.erase(&allocation); }
  // The device is reset: files stay mapped where allocations of it may still be looked at.
  void clear() {
    if (!exported_.empty() || !opened_.empty() || !mapped_.empty()) forget_all();
  }

 private:
  struct Opened {
    const vgpu::Allocation* allocation = nullptr;
    std::uint32_t count = 0;
  };
  void forget_all();
  [[nodiscard]] bool has_opened(const vgpu::Allocation& allocation) const;

  vgpu::DeviceMemory& memory_;
  std::map<const vgpu::Allocation*, std::shared_ptr<ProcessFile>> exported_;
  std::map<ProcessFileHandle, Opened> opened_;
  std::map<const vgpu::Allocation*, std::shared_ptr<ProcessFile>> mapped_;
};

}  // namespace warpcheck::cudart
