// Findings for misuse of streams and events that no device event shows: unordered operations, waits
// that never end, use of destroyed objects.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/operand.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/events.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

// An operation of the host on device memory: a copy or fill of the host API, a library function, or
// a load or store in the program's own code.
struct HostOperation {
  std::string_view call;
  bool write = false;
  bool frees = false;                       // write: the memory is freed
  bool allocates = false;                   // write: the memory begins to exist
  const LibraryOperand* operand = nullptr;  // set for a library function
  const HostPlace* place = nullptr;         // set for a load or store
  [[nodiscard]] std::string_view name() const { return operand == nullptr ? call : operand->name; }
};

// How the name of an operation begins that reads the source of a copy before the copy's turn in its
// stream (cudaMemcpySrcAccessOrderAny); the name of the call follows.
inline constexpr std::string_view kEarlyRead = "the early read of ";

// Makes the finding for two stream operations that are not ordered and that access the same byte of
// one allocation.
//   same_bytes: both write the same bytes from the same source, so their order does not matter.
Finding race_of_operations(const HostOperation& earlier, const HostOperation& later,
                           const Allocation& allocation, std::uint64_t offset, bool same_bytes);

// Makes the finding for a copy whose source and target share the byte: the API documents that they
// may not overlap.
Finding overlap_of_copy(std::string_view call, const Allocation& allocation, std::uint64_t offset);

// Adds the second side, the message and what is missing of a race between a kernel, the first side,
// and a call of the API.
void add_call(const Reporter& reporter, const HostAccess& access, Finding& finding);

// Makes the finding for a stream that waits for a value which no operation will write.
//   memory: the location of the value; null: not known.
Finding value_never_comes(std::string_view call, const Allocation* memory, std::uint32_t offset,
                          std::uint32_t bytes);

// Makes the finding for a conditional node (cudaGraphCondTypeWhile) whose body has run so often,
// and whose condition still holds.
Finding condition_stays(std::uint64_t rounds);

// Makes the finding for host code that has read a signal of a kernel and reads what it wrote,
// although the kernel did not release this write at system scope.
//   before_signal: the thread has signalled after the write; otherwise no release of its launch
//     comes after the write
Finding unreleased_for_host(const CodePlace& write, bool before_signal,
                            const Allocation& allocation, std::uint64_t offset,
                            const HostPlace& read);

// Makes the finding for host code that reads or writes what an atomic operation of a kernel
// changes, and does not wait for the kernel.
Finding touched_too_early(const CodePlace& atomic, const Allocation& allocation,
                          std::uint64_t offset, bool writes, const HostPlace& place);

//   what: "stream" or "event"
Finding use_of_destroyed(std::string_view call, std::string_view what);
Finding destroyed_twice(std::string_view call, std::string_view what);

}  // namespace warpcheck::vgpu
