// A launch whose blocks several machines run, each on a thread of its own.
//
// Each begins with a range of neighbours, the same one in every launch of a grid: they mostly touch
// neighbouring memory, of which then one machine alone knows.  Who has none left takes the second
// half of the longest range that there is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace warpcheck::vgpu {

struct Allocation;

// What atomic operations come to whose order does not show, kept apart from memory until all
// machines are done: they would wait for each other at every one.
class ReductionPages {
 public:
  static constexpr std::uint32_t kPageBytes = 4096;

  virtual ~ReductionPages() = default;
  // In place of a page of global memory for the atomic at `pc`, which has been announced.  Null:
  // the launch is given up.
  virtual std::byte* page_of(const Allocation& allocation, std::uint32_t page,
                             std::uint32_t pc) = 0;
};

class SharedGrid {
 public:
  //   blocks: of the grid; machines: at least 1
  SharedGrid(std::uint32_t blocks, unsigned machines)
      : machines_(machines), ranges_(std::make_unique<Range[]>(machines)) {
    for (std::uint64_t i = 0; i < machines; ++i) {
      ranges_[i].blocks = pack(static_cast<std::uint32_t>(i * blocks / machines),
                               static_cast<std::uint32_t>((i + 1) * blocks / machines));
    }
  }

  // Whoever calls it leaves the launch to one machine, from its beginning: what this one has come
  // to is worth nothing.
  void give_up() { is_given_up_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_given_up() const { return is_given_up_.load(std::memory_order_relaxed); }
  // Blocks that have ended, for who watches.
  void count_end() { ended_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  friend class BlockShare;
  // Its first block, and above it the end: machines change both at once.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> blocks{0};
  };
  static constexpr std::uint64_t pack(std::uint32_t first, std::uint32_t end) {
    return std::uint64_t{end} << 32 | first;
  }
  static constexpr std::uint32_t first_of(std::uint64_t range) {
    return static_cast<std::uint32_t>(range);
  }
  static constexpr std::uint32_t end_of(std::uint64_t range) {
    return static_cast<std::uint32_t>(range >> 32);
  }

  unsigned machines_;
  std::unique_ptr<Range[]> ranges_;
  std::atomic<std::uint32_t> ended_{0};
  std::atomic<bool> is_given_up_{false};
};

// One machine's.
class BlockShare {
 public:
  //   machine: its number
  BlockShare(SharedGrid& grid, unsigned machine, ReductionPages& reductions)
      : grid_(grid), own_(grid.ranges_[machine]), reductions_(reductions) {}

  // The next block to be run; nothing: there is none left.
  std::optional<std::uint32_t> take() {
    if (grid_.is_given_up()) return std::nullopt;
    std::uint64_t range = own_.blocks.load();
    while (first_of(range) != end_of(range)) {
      const std::uint32_t first = first_of(range);
      if (own_.blocks.compare_exchange_weak(range, SharedGrid::pack(first + 1, end_of(range)))) {
        return first;
      }
    }
    return take_from_others();
  }
  [[nodiscard]] SharedGrid& grid() const { return grid_; }
  [[nodiscard]] ReductionPages& reductions() const { return reductions_; }

 private:
  static std::uint32_t first_of(std::uint64_t range) { return SharedGrid::first_of(range); }
  static std::uint32_t end_of(std::uint64_t range) { return SharedGrid::end_of(range); }
  static std::uint32_t size_of(std::uint64_t range) { return end_of(range) - first_of(range); }

  std::optional<std::uint32_t> take_from_others() {
    while (true) {
      SharedGrid::Range* longest = nullptr;
      std::uint64_t range = 0;
      for (unsigned i = 0; i < grid_.machines_; ++i) {
        const std::uint64_t other = grid_.ranges_[i].blocks.load();
        if (size_of(other) <= size_of(range)) continue;
        longest = &grid_.ranges_[i];
        range = other;
      }
      if (longest == nullptr) return std::nullopt;
      const std::uint32_t middle = first_of(range) + size_of(range) / 2, end = end_of(range);
      if (!longest->blocks.compare_exchange_strong(range,
                                                   SharedGrid::pack(first_of(range), middle))) {
        continue;
      }
      own_.blocks.store(SharedGrid::pack(middle + 1, end));
      return middle;
    }
  }

  SharedGrid& grid_;
  SharedGrid::Range& own_;
  ReductionPages& reductions_;
};

}  // namespace warpcheck::vgpu
