// What instructions did to memory, as counted by MemoryCounters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::vgpu {

//   COUNT(name)   one number; sums of several instructions and runs are meaningful
// executions: warp instructions.  lanes: those that were at the instruction, over all executions.
// divergences: branches at which lanes parted.  sectors, wavefronts: access_cost.hpp; ideal_...:
// the least that the same bytes need.  requests, shared_requests: accesses of global and of shared
// memory.  contended: lanes of atomics whose address another lane of the same request has, apart
// from one.  local_bytes, local_sectors: moved to and from local memory.
#define MEMORY_COUNTS(COUNT) \
  COUNT(executions)          \
  COUNT(lanes)               \
  COUNT(divergences)         \
  COUNT(requests)            \
  COUNT(sectors)             \
  COUNT(ideal_sectors)       \
  COUNT(shared_requests)     \
  COUNT(wavefronts) COUNT(ideal_wavefronts) COUNT(contended) COUNT(local_bytes) COUNT(local_sectors)

struct MemoryCounts {
#define COUNT(name) std::uint64_t name = 0;
  MEMORY_COUNTS(COUNT)
#undef COUNT

  void add(const MemoryCounts& other) {
#define COUNT(name) name += other.name;
    MEMORY_COUNTS(COUNT)
#undef COUNT
  }
  // Sectors and wavefronts that better addresses would save.
  [[nodiscard]] std::uint64_t excess_sectors() const { return sectors - ideal_sectors; }
  [[nodiscard]] std::uint64_t conflicts() const { return wavefronts - ideal_wavefronts; }
  friend bool operator==(const MemoryCounts&, const MemoryCounts&) = default;
};

// The counts of one PTX instruction of a kernel.
struct CountedInstr {
  std::string kernel;       // mangled
  std::string file;         // of the line that reports name; empty: not known
  std::uint32_t line = 0;   // 0: not known
  std::uint32_t place = 0;  // its number in the kernel's code
  std::string ptx;          // "st.shared.u32"
  MemoryCounts counts;
  friend bool operator==(const CountedInstr&, const CountedInstr&) = default;
};

// Adds the counts of equal instructions; those of `more` that are new come last.
void merge(std::vector<CountedInstr>& into, const std::vector<CountedInstr>& more);

}  // namespace warpcheck::vgpu
