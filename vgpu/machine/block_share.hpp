// The shares of a launch whose blocks several machines run, each machine on its own thread.
//
// Each machine begins with a contiguous range of blocks, the same range in every launch of a grid:
// neighbouring blocks mostly touch neighbouring memory, so each part of memory is mostly used by
// one machine.  A machine without blocks takes the second half of the longest remaining range.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace warpcheck::vgpu {

struct Allocation;

// Pages that collect the results of reductions (atomic operations whose old value is unused and
// whose order does not matter) apart from global memory until all machines are done.  Otherwise
// machines would wait for each other at every atomic operation.
class ReductionPages {
 public:
  static constexpr std::uint32_t kPageBytes = 4096;

  virtual ~ReductionPages() = default;
  // Returns the page that takes the place of a page of global memory for the atomic at `pc`, which
  // has been announced.  Null: the launch is given up.
  virtual std::byte* page_of(const Allocation& allocation, std::uint32_t page,
                             std::uint32_t pc) = 0;
};

// What becomes of what several machines have left in the state of the whole.
enum class PartsEnd : std::uint8_t {
  kept,
  undone,     // the launches run again on one machine
  postponed,  // memory and states of bytes are as before; they will be written later
};

class SharedGrid {
 public:
  //   blocks: number of blocks in the grid; machines: at least 1
  SharedGrid(std::uint32_t blocks, unsigned machines)
      : machines_(machines), ranges_(std::make_unique<Range[]>(machines)) {
    for (std::uint64_t i = 0; i < machines; ++i) {
      ranges_[i].blocks = pack(static_cast<std::uint32_t>(i * blocks / machines),
                               static_cast<std::uint32_t>((i + 1) * blocks / machines));
    }
  }

  // A launch that one machine runs whole, while others run other launches of the same group: it
  // ends too if the group is given up.
  explicit SharedGrid(SharedGrid& group) : SharedGrid(0, 1) { group_ = &group; }

  // Ends this attempt: one machine will run the launch from its beginning, and all results of the
  // attempt are dropped.
  void give_up() { is_given_up_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_given_up() const {
    return has_given_up() || (group_ != nullptr && group_->is_given_up());
  }
  // Returns whether give_up() was called for itself.
  [[nodiscard]] bool has_given_up() const { return is_given_up_.load(std::memory_order_relaxed); }
  // The number of blocks that have ended, for progress displays.  Each machine has a counter.
  void count_end(unsigned machine = 0) {
    ranges_[machine].ended.fetch_add(1, std::memory_order_relaxed);
    if (group_ != nullptr) group_->count_end();
  }
  [[nodiscard]] std::uint32_t ended() const {
    std::uint32_t all = 0;
    for (unsigned i = 0; i < machines_; ++i) {
      all += ranges_[i].ended.load(std::memory_order_relaxed);
    }
    return all;
  }

 private:
  friend class BlockShare;
  struct alignas(64) Range {
    // The first block in the low half and the end in the high half, so that machines change both at
    // once.
    std::atomic<std::uint64_t> blocks{0};
    std::atomic<std::uint32_t> ended{0};  // blocks that the machine has run
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
  std::atomic<bool> is_given_up_{false};
  SharedGrid* group_ = nullptr;
};

// The share of one machine.
class BlockShare {
 public:
  //   machine: its number
  BlockShare(SharedGrid& grid, unsigned machine, ReductionPages& reductions)
      : grid_(grid), machine_(machine), own_(grid.ranges_[machine]), reductions_(reductions) {}

  // Returns the next block to run; nothing: no block is left.
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
  void count_end() { grid_.count_end(machine_); }
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
  unsigned machine_;
  SharedGrid::Range& own_;
  ReductionPages& reductions_;
};

}  // namespace warpcheck::vgpu
