// Trial runs of a kernel on arrays that are longer than it can need, to see what it touches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "harness/kernel/kernel_pair.hpp"

namespace warpcheck {

// What was accessed of an array, and by whom.
struct Reach {
  // The elements from the first to the last one that an instruction has accessed.
  struct Span {
    std::int64_t first = 0, last = 0;
    bool descends = false;  // a later lane accessed an earlier element
    bool is_atomic = false;
  };
  std::map<std::uint32_t, Span> spans;   // by the instruction's pc
  std::set<std::uint64_t> last_threads;  // that accessed the last element
  // What the last element, an integer, holds when the kernel has ended.
  std::optional<std::int64_t> last_value;
};

// What one run touched.
struct Extents {
  std::vector<std::int64_t> elements;  // of each array: 1 + the last one
  std::vector<bool> written;           // whether something of the array was
  std::int64_t shared_bytes = 0;       // of dynamic shared memory
  bool leaves_arrays = false;          // an access was in none of them
  bool leaves_shared = false;          // an access of shared memory was outside of it
  std::uint64_t rows = 0;              // accesses of warps, to all memory
  bool ends = true;                    // before the limit of steps, and without a deadlock
  // Of each array, in the unoptimised build if there is one: the optimiser unrolls loops, and so
  // divides the elements of one access among several instructions.
  std::vector<Reach> reach;
};

// Adds what another run of the same shape has touched; its reach is left out.
void widen(Extents& extents, const Extents& other);
// Adds its reach, before `widen`.  Both are of one build.
void widen_reach(Extents& extents, const Extents& other);

// Of an array's contents.  highest: the largest of its values, where it has a range of them.
enum class Fill : std::uint8_t { zeros, drawn, highest };

// The optimiser drops loads whose values are not used, so arrays may be longer than it needs.
enum class Builds : std::uint8_t { shipped, all };

class Prober {
 public:
  // static_shared_bytes: of the kernel's own variables; the rest of 48 KiB is given to it
  Prober(const KernelPair& pair, std::uint64_t static_shared_bytes);

  // Runs scalars and launch of `input`, with the default schedule and the beginning of each array
  // filled as `fill` says for it.  Throws UsageError for a kernel that cannot be run.
  //   kernel: the pair's, with any ranges and launches
  [[nodiscard]] Extents run(const KernelDescription& kernel, const KernelInput& input,
                            const std::vector<Fill>& fill, std::uint64_t seed, Builds builds);
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  // Of 48 KiB, what the kernel's own variables leave.
  [[nodiscard]] std::uint32_t free_shared_bytes() const { return free_shared_bytes_; }

 private:
  [[nodiscard]] Extents run_in(cudart::Build build, const KernelDescription& kernel,
                               const KernelInput& input, const std::vector<Fill>& fill,
                               std::uint64_t seed);

  const KernelPair& pair_;
  std::uint32_t free_shared_bytes_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_of_endless_ = 0;  // of runs that reached their limit
};

}  // namespace warpcheck
