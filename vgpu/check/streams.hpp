// Misuse of streams that no event of the device shows.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/operand.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

// A copy or fill of the host API, a library function, or a load or store of the program's own.
struct HostOperation {
  std::string_view call;
  bool write = false;
  const LibraryOperand* operand = nullptr;  // of a library function
  const HostPlace* place = nullptr;         // of a load or store
  [[nodiscard]] std::string_view name() const { return operand == nullptr ? call : operand->name; }
};

// Two operations of streams that nothing orders use a byte of one allocation.
//   same_bytes: both bring the same from the same place, so that the order does not matter
Finding race_of_operations(const HostOperation& earlier, const HostOperation& later,
                           const Allocation& allocation, std::uint64_t offset, bool same_bytes);

// A stream waits for a value that nothing will write.
//   memory: where; null: not known
Finding value_never_comes(std::string_view call, const Allocation* memory, std::uint32_t offset,
                          std::uint32_t bytes);

// The host has read by itself what a kernel has written before it gave the host a signal, but has
// not released for it.
Finding unreleased_for_host(const CodePlace& write, const Allocation& allocation,
                            std::uint64_t offset, const HostPlace& read);

// what: "stream", "event".
Finding use_of_destroyed(std::string_view call, std::string_view what);
Finding destroyed_twice(std::string_view call, std::string_view what);

}  // namespace warpcheck::vgpu
