// Feedback: the behaviour of a trial as 8-bit counters that guide libFuzzer.
//
// Two maps, 64 KiB together (libFuzzer walks the map after each execution, so a larger map costs
// throughput):
//   edges       control transfers of the kernels' PTX: guides the input;
//   reads-from  for every read of shared or global memory, which write it saw: guides the
//               schedule.  Two runs in which every read sees the same write read the same
//               values, so a new pair is a new behaviour, and a new order without one is not
//               (reads-from equivalence: Abdulla et al., "Optimal stateless model checking for
//               reads-from equivalence under sequential consistency", OOPSLA 2019; as feedback:
//               Wolff et al., "Greybox fuzzing for concurrency testing", ASPLOS 2024).
//               A pair is (instruction of the write, or none; instruction of the read; whether
//               both are of one lane, warp, block or of different blocks): static, so that a
//               loop or a larger grid is no new behaviour by itself.
// Counters saturate and count rows of lanes, not lanes, so that the width of a launch is not a new
// behaviour either.  Keys contain a hash of the kernel, so kernels share counters only by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/trial_shape.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::fuzz {

inline constexpr std::size_t kEdgeCounters = 16 * 1024;
inline constexpr std::size_t kReadsFromCounters = 48 * 1024;
inline constexpr std::size_t kCounters = kEdgeCounters + kReadsFromCounters;

class Feedback : public vgpu::Observer {
 public:
  // counters: kCounters of them, zeroed by their owner. Throws std::invalid_argument for another
  // number of them.
  explicit Feedback(std::span<std::uint8_t> counters);

  // Starts a new trial: no write has been seen.  Counters are kept.
  void reset();

  // Of the trial so far.
  [[nodiscard]] const TrialShape& shape() const { return shape_; }

  void on_sync(const vgpu::Sync& sync) override;
  void on_access(const vgpu::Access& access) override;
  void on_allocate(const vgpu::Allocation& allocation) override;
  void on_edge(std::uint32_t from, std::uint32_t to, const vgpu::Program& program) override;

 private:
  // The last write of a 4-byte word.
  struct Writer {
    std::uint32_t site = 0;    // hash of kernel and instruction, never 0; 0: no kernel wrote it
    std::uint32_t thread = 0;  // linear in the grid, modulo 2^32
  };
  struct Shadow {
    std::vector<Writer> words;
    std::uint64_t trial = 0;  // in which `words` is valid; in other trials it counts as unwritten
  };
  // Reader and writer of a pair.
  enum class Relation : std::uint8_t { none, lane, warp, block, grid };

  void count_access(const vgpu::WarpPlace& place);
  Shadow& shadow_of(const vgpu::Allocation& allocation);
  void forget(const vgpu::Allocation& allocation);
  void count_read(std::uint32_t site, std::uint32_t reader, const Writer& writer);
  [[nodiscard]] std::uint32_t kernel_hash(const vgpu::Program& program);

  std::span<std::uint8_t> edges_, reads_from_;
  TrialShape shape_;
  std::vector<std::uint64_t> accesses_;  // of each warp of the running launch
  std::vector<Shadow> shadows_;          // by allocation id
  std::uint64_t trial_ = 1;
  const vgpu::Program* hashed_program_ = nullptr;  // within a launch
  std::uint32_t hashed_ = 0;
  // The pair of the last lane: further lanes of a row with the same pair do not count.
  std::uint32_t last_writer_site_ = 0;
  Relation last_relation_ = Relation::none;
  bool row_begins_ = true;
};

}  // namespace warpcheck::fuzz
