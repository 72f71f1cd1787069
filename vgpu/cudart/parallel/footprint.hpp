// The footprint of one of several parallel machines: the words of global memory that it has read
// and written in a launch.
//
// If two machines have touched the same word, and one of them has written it, the launch may have
// behaved differently than on one machine.  If there is no such word, each block has found what it
// would have found if all blocks had run one after the other, so the result is the same.  Words
// have four bytes: machines that touch different bytes of a word count as having met.
//
// Atomic operations of one kind whose order is not visible may meet each other (reduced_pages.hpp).
// But no machine, including the same one, may read or write the words of such operations in another
// way, because memory does not contain their results during the launch.
//
// Everything that only a single machine can do (faults, prints, communication between threads while
// they run) gives the launch up.
//
// If machines run whole launches at the same time, each launch leaves its words apart
// (touched_words.hpp).  Its threads run on one machine, so they may communicate, but not with the
// host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/cudart/parallel/reduced_pages.hpp"
#include "vgpu/cudart/parallel/saved_pages.hpp"
#include "vgpu/cudart/parallel/touched_words.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/memory/host_pages.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

class Footprint final : public vgpu::Observer {
 public:
  explicit Footprint(SavedPages& saved);

  //   number: of the machine; reductions: of the launched program, must outlive the launch
  void begin(vgpu::SharedGrid& grid, std::uint32_t number, const Reductions& reductions);
  // Begins a task of a group: a whole launch, or a copy.
  void begin_whole(vgpu::SharedGrid& group);
  // A copy of the task is about to read or write bytes.
  void touch_bytes(const vgpu::Allocation& allocation, std::uint32_t offset, std::uint32_t bytes,
                   bool write);
  // Returns the words that the task has touched, and forgets them; what was saved is kept.
  [[nodiscard]] TouchedWords take_words();
  [[nodiscard]] ReducedPages& reduced() { return reduced_; }
  // Returns whether two of them have met, as defined above.
  [[nodiscard]] static bool have_met(std::span<Footprint* const> all);
  // Restores global memory, as far as this machine has saved it.
  void put_back() const { kept_.put_back(); }
  // Forgets what was touched and saved.  The bits of words are cleared when the next launch begins,
  // on the thread of the machine.
  void clear();
  // Frees what it holds for an allocation; must not be called while a launch runs.
  void forget(const vgpu::Allocation& allocation);

  [[nodiscard]] vgpu::Watched watches() const override { return {.shared = false}; }
  void on_access(const vgpu::Access& access) override;
  bool takes_row(const vgpu::RowAccess& row) override;
  void on_fault(const vgpu::Fault& /*fault*/) override { grid_->give_up(); }
  void on_undefined_use(const vgpu::UndefinedUse& /*use*/) override { grid_->give_up(); }
  void on_barrier_divergence(const vgpu::BarrierDivergence& /*event*/) override {
    grid_->give_up();
  }
  void on_deadlock(const vgpu::Deadlock& /*event*/) override { grid_->give_up(); }
  void on_step_limit(const vgpu::StepLimit& /*event*/) override { grid_->give_up(); }
  void on_trap(const vgpu::Trap& /*trap*/) override { grid_->give_up(); }
  void on_print(const vgpu::Print& /*print*/) override { grid_->give_up(); }
  void on_sync(const vgpu::Sync& sync) override {
    // Machines that share a launch count its blocks themselves.
    if (reductions_ == nullptr && sync.kind == vgpu::Sync::Kind::block_end) grid_->count_end();
  }

 private:
  // The footprint in one allocation: one bit per word, one byte per page.
  struct alignas(64) Touched {
    // kKnown: touched in this launch or an earlier one.
    static constexpr std::uint8_t kRead = 1, kWritten = 2, kReduced = 4, kKnown = 8;
    const vgpu::Allocation* allocation = nullptr;  // null: nothing was touched
    SavedPages::Flags* flags = nullptr;
    std::uint64_t bytes = 0;                       // size of the allocation that the bits cover
    std::array<std::byte*, 3> first_bits{};        // by role
    std::array<vgpu::HostPages, 3> pages_of_bits;  // by role
    std::vector<std::uint8_t> pages;

    //   role: kRead, kWritten or kReduced
    [[nodiscard]] std::byte* bits(std::uint8_t role) { return first_bits[role / 2]; }
    // The same bits, 64 at a time.
    [[nodiscard]] std::uint64_t* words(std::uint8_t role) {
      return reinterpret_cast<std::uint64_t*>(bits(role));
    }
  };

  Touched& touched(const vgpu::Allocation& allocation) {
    const std::uint32_t id = allocation.id;
    if (id < touched_.size() && touched_[id].allocation == &allocation) return touched_[id];
    return begin_allocation(allocation);
  }
  Touched& begin_allocation(const vgpu::Allocation& allocation);
  void touch(Touched& at, std::uint32_t begin, std::uint32_t end, std::uint8_t role);
  static void set_words(Touched& at, std::uint32_t offset, std::uint32_t words, std::uint8_t role);
  void touch_row(Touched& at, std::uint32_t first, std::uint32_t lanes, std::uint8_t role);
  void touch_lanes(Touched& at, std::uint32_t first, std::uint32_t bytes, std::uint32_t lanes,
                   std::uint8_t role);
  void touch_runs(Touched& at, std::uint32_t first, std::uint32_t bytes, std::uint32_t lanes,
                  std::uint8_t role);
  void touch_scattered(Touched& at, const std::uint32_t* offsets, std::uint32_t bytes,
                       std::uint32_t lanes, std::uint8_t role);
  void touch_words(Touched& at, const std::uint32_t* offsets, std::uint32_t lanes,
                   std::uint8_t role);
  [[gnu::noinline]] void take_any_row(const vgpu::RowAccess& row, std::uint8_t role);
  // Returns whether the pages of both bytes have been touched in this role.
  static bool know_pages(const Touched& at, std::uint32_t first, std::uint32_t last,
                         std::uint8_t role) {
    return (at.pages[first / kParallelPageBytes] & at.pages[last / kParallelPageBytes] & role) != 0;
  }
  void touch_pages(Touched& at, std::uint32_t begin, std::uint32_t end, std::uint8_t role);
  std::uint8_t role_of(const vgpu::Access& access) const;
  void forget_words();
  struct PageOf {
    std::uint32_t id = 0, page = 0;
  };
  static bool have_met_in_page(std::span<Touched* const> all, std::size_t page);
  static bool have_met_at(std::span<Footprint* const> all, const PageOf& page);
  static PageUsers::Use use_of(std::uint8_t role);

  SavedPages& saved_;
  KeptPages kept_;
  ReducedPages reduced_;
  vgpu::RunsFn runs_of_;
  const Reductions* reductions_ = nullptr;  // null: this machine runs a whole launch
  vgpu::SharedGrid* grid_ = nullptr;
  std::vector<Touched> touched_;  // by Allocation::id
  std::uint32_t number_ = 0;      // of the machine
  std::vector<PageOf> pages_;     // whose words must be forgotten
  std::vector<PageOf> compared_;  // pages in which this machine may have met others
};

}  // namespace warpcheck::cudart
