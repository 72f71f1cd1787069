// The checker for reads, past the coherent caches, of bytes that the same launch has written.
//
// PTX ISA, ld.global.nc: the load goes through a cache that is not coherent with the launch's own
// writes, so the memory must not be written while the kernel runs; ldu reads "read-only data".
// nvcc makes such loads of __ldg(), and of pointers that are const and __restrict__.  CUDA C++
// Programming Guide, "Read/Write Coherency": the same holds for textures and surfaces.  So such a
// read of an address that the same launch has written is undefined, even if synchronization orders
// the two and even within one thread.  A write after the read is a matter of the race checker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/running_launch_state.hpp"

namespace warpcheck::vgpu {

class NoncoherentReadChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] Watched watches() const override {
    return {.shared = false, .noncoherent_loads = true, .blocks = false};
  }
  [[nodiscard]] bool may_be_split() const override { return true; }
  // True only for programs that read through textures or surfaces.
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override;
  void reset(WarpModel /*model*/) override { state_.reset(); }
  void on_sync(const Sync& sync) override;
  void resumes(const ResumedLaunch& resumed) override { state_.resume(resumed.launch); }
  void on_access(const Access& access) override;
  bool takes_row(const RowAccess& row) override;
  void on_free(const Allocation& allocation) override;

 private:
  static constexpr std::uint32_t kWordBytes = 4, kLineWords = 32;
  static constexpr std::uint32_t kLineBytes = kWordBytes * kLineWords;
  static constexpr std::uint32_t kPageLines = 512;

  // The last thread that has written a byte of a word, and all bytes of it that were written.
  struct Word {
    std::uint32_t pc = 0;
    std::uint32_t block = 0;
    std::uint16_t thread = 0;
    std::uint16_t bytes = 0;  // a bit for each
  };
  using Words = std::array<Word, kLineWords>;

  // What one instruction of one block has written: thread t the bytes from base + t * step on
  // (modulo 2^32).  step 0: thread `base` all of them.
  struct Rows {
    std::uint32_t pc = 0;
    std::uint32_t block = 0;
    std::uint32_t base = 0;
    std::uint32_t step = 0;
    friend bool operator==(const Rows&, const Rows&) = default;
  };
  // What a launch has written of 32 aligned words.  Most lines need only `rows`.
  struct Line {
    std::uint32_t launch = 0;            // 0: none
    std::uint32_t words = 0;             // the written ones: wholly, if there are no `details`
    std::uint32_t details = ptx::kNone;  // index into details_, in place of `rows`
    Rows rows;
  };
  using Page = std::array<Line, kPageLines>;
  struct Range {
    std::uint32_t begin = ~0u, end = 0;
  };
  struct Written {
    std::uint32_t launch = 0;  // the latest that has written the allocation
    Range range;               // everything that it has written is in there
    std::vector<std::unique_ptr<Page>> pages;
  };

  // Returns the bytes from the first to the last that a lane accesses.
  static Range range_of(const RowAccess& row);
  void record(const RowAccess& row);
  void record_rows(Written& written, const RowAccess& row, const Rows& rows);
  void record_lanes(Written& written, const RowAccess& row);
  // Return what the launch has written of an allocation, or of a line; null: nothing.
  [[nodiscard]] const Written* written_in(const Allocation& allocation) const;
  [[nodiscard]] const Line* find_line(const Written& written, std::uint32_t number) const;
  Line& line_at(Written& written, std::uint32_t line) const;
  void add_rows(Line& line, std::uint32_t number, const Rows& rows, std::uint32_t words);
  Words& detailed(Line& line, std::uint32_t number);
  static Word word_of(const Rows& rows, std::uint32_t offset);
  [[nodiscard]] bool is_written(const Written& written, const RowAccess& row) const;
  // Returns who has written the bytes, or a word without bytes.
  [[nodiscard]] Word find(const Written& written, std::uint32_t offset, std::uint32_t bytes) const;
  void report(const Access& access, unsigned lane, const Word& word);

  struct State {
    std::uint32_t launch = 0;
    const Program* program = nullptr;
    std::vector<Written> written;  // by Allocation::id
    std::vector<Words> details;
    void clear() {
      launch = 0;
      program = nullptr;
      written.clear();
      details.clear();
    }
  };
  std::uint32_t launches_ = 0;
  RunningLaunchState<State> state_;
};

}  // namespace warpcheck::vgpu
