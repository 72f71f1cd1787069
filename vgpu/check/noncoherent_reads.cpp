// The checker for reads, past the coherent caches, of bytes that the same launch has written.
//
// PTX ISA, ld.global.nc: the load goes through a cache that is not coherent with the launch's own
// writes, so the memory must not be written while the kernel runs; ldu reads "read-only data".
// nvcc makes such loads of __ldg(), and of pointers that are const and __restrict__.  CUDA C++
// Programming Guide, "Read/Write Coherency": the same holds for textures and surfaces.  So such a
// read of an address that the same launch has written is undefined, even if synchronization orders
// the two and even within one thread.  A write after the read is a matter of the race checker.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/order/running_launch_state.hpp"
#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_lack.hpp"

namespace warpcheck::vgpu {
namespace {

bool reads_texture(const TextureInstr& instr) {
  return instr.operation != TextureInstr::Operation::store;
}

bool is_noncoherent(const Instr& instr) {
  return instr.kind == InstrKind::texture || instr.modifiers.noncoherent;
}

// Returns a bit for each word from `begin` to before `end`, which lie in one line.
std::uint32_t words_between(std::uint32_t begin, std::uint32_t end) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << end) - (std::uint64_t{1} << begin));
}

class NoncoherentReadChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] Watched watches() const override {
    return {.shared = false, .noncoherent_loads = true, .blocks = false};
  }
  [[nodiscard]] bool may_be_split() const override { return true; }
  // True only for programs that read through textures or surfaces.
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override {
    return std::ranges::any_of(program.texture_instrs, reads_texture);
  }

  void reset(WarpModel /*model*/) override { state_.reset(); }

  void on_sync(const Sync& sync) override {
    if (!state_.begins_at(sync)) return;
    state_->program = sync.program;
    state_->details.clear();
    if (++launches_ == 0) {
      state_->written.clear();
      launches_ = 1;
    }
    state_->launch = launches_;
  }

  void resumes(const ResumedLaunch& resumed) override { state_.resume(resumed.launch); }

  void on_access(const Access& access) override {
    if (access.space != ptx::Space::global) return;
    if (access.kind != AccessKind::read) {
      return record(row_of(access));
    }
    if (!is_noncoherent(access.program->code[access.pc])) return;
    const Written* const written = written_in(*access.allocation);
    if (written == nullptr) return;
    for_each_bit(access.mask, [&](unsigned lane) {
      const Word word = find(*written, access.offset[lane], access.bytes);
      if (word.bytes != 0) report(access, lane, word);
    });
  }

  bool takes_row(const RowAccess& row) override {
    if (row.space != ptx::Space::global) return true;
    if (row.kind == AccessKind::write) {
      record(row);
      return true;
    }
    const Written* const written = written_in(*row.allocation);
    if (written == nullptr) return true;
    const Range range = range_of(row);
    if (range.end <= written->range.begin || written->range.end <= range.begin) return true;
    return !is_noncoherent(state_->program->code[row.pc]) || !is_written(*written, row);
  }

  void on_free(const Allocation& allocation) override {
    state_.for_each([&](State& state) {
      if (allocation.id < state.written.size()) state.written[allocation.id] = {};
    });
  }

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
  static Range range_of(const RowAccess& row) {
    if (row.pattern != Pattern::scattered) {
      return {row.offset_of(static_cast<unsigned>(std::countr_zero(row.mask))),
              row.offset_of(31 - static_cast<unsigned>(std::countl_zero(row.mask))) + row.bytes};
    }
    Range all;
    if (row.mask == ~0u) {  // without a branch for each lane
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        all.begin = std::min(all.begin, row.offsets[lane]);
        all.end = std::max(all.end, row.offsets[lane]);
      }
    } else {
      for_each_bit(row.mask, [&](unsigned lane) {
        all.begin = std::min(all.begin, row.offsets[lane]);
        all.end = std::max(all.end, row.offsets[lane]);
      });
    }
    return {all.begin, all.end + row.bytes};
  }

  void record(const RowAccess& row) {
    const Allocation& allocation = *row.allocation;
    if (allocation.id >= state_->written.size()) state_->written.resize(allocation.id + 1);
    Written& written = state_->written[allocation.id];
    if (written.launch != state_->launch) {
      written.launch = state_->launch;
      written.range = {};
      written.pages.resize(allocation.limit() / (kLineBytes * kPageLines) + 1);
    }
    const Range range = range_of(row);
    written.range.begin = std::min(written.range.begin, range.begin);
    written.range.end = std::max(written.range.end, range.end);
    const std::uint32_t warp_0 = row.place.warp * kWarpLanes;
    if (row.pattern == Pattern::uniform && row.bytes >= kWordBytes) {
      const auto last = static_cast<std::uint32_t>(31 - std::countl_zero(row.mask));
      return record_rows(written, row, {row.pc, row.place.block, warp_0 + last, 0});
    }
    // Whole words, of neighbouring lanes.
    if (row.pattern == Pattern::strided && row.first % kWordBytes == 0 &&
        (row.bytes >= kWordBytes || row.mask == ~0u)) {
      const std::uint32_t base = row.first - warp_0 * row.bytes;
      return record_rows(written, row, {row.pc, row.place.block, base, row.bytes});
    }
    record_lanes(written, row);
  }

  // Records a row that writes whole words, a run of neighbouring lanes after the other.
  void record_rows(Written& written, const RowAccess& row, const Rows& rows) {
    std::uint32_t mask = rows.step == 0 ? 1 : row.mask;
    while (mask != 0) {
      const auto lead = static_cast<std::uint32_t>(std::countr_zero(mask));
      const auto count = static_cast<std::uint32_t>(std::countr_one(mask >> lead));
      mask &= ~words_between(lead, lead + count);
      const std::uint32_t begin = (row.first + lead * rows.step) / kWordBytes;
      const std::uint32_t end = begin + count * row.bytes / kWordBytes;
      for (std::uint32_t at = begin; at < end;) {
        const std::uint32_t line = at / kLineWords;
        const std::uint32_t stop = std::min(end, (line + 1) * kLineWords);
        add_rows(line_at(written, line), line, rows,
                 words_between(at - line * kLineWords, stop - line * kLineWords));
        at = stop;
      }
    }
  }

  void record_lanes(Written& written, const RowAccess& row) {
    for_each_bit(row.mask, [&](unsigned lane) {
      const ThreadId who = thread_of(row.place, lane);
      const std::uint32_t begin = row.offset_of(lane), end = begin + row.bytes;
      for (std::uint32_t at = begin; at < end; at += kWordBytes - at % kWordBytes) {
        const std::uint32_t number = at / kLineBytes, index = at / kWordBytes % kLineWords;
        Line& line = line_at(written, number);
        Word& word = detailed(line, number)[index];
        const std::uint32_t count = std::min(end - at, kWordBytes - at % kWordBytes);
        word.pc = row.pc;
        word.block = who.block;
        word.thread = static_cast<std::uint16_t>(who.thread);
        word.bytes |= static_cast<std::uint16_t>(((1u << count) - 1) << at % kWordBytes);
        line.words |= 1u << index;
      }
    });
  }

  // Return what the launch has written of an allocation, or of a line; null: nothing.
  [[nodiscard]] const Written* written_in(const Allocation& allocation) const {
    const bool is_known = allocation.id < state_->written.size() &&
                          state_->written[allocation.id].launch == state_->launch;
    return is_known ? &state_->written[allocation.id] : nullptr;
  }

  [[nodiscard]] const Line* find_line(const Written& written, std::uint32_t number) const {
    const Page* const page = written.pages[number / kPageLines].get();
    if (page == nullptr) return nullptr;
    const Line& line = (*page)[number % kPageLines];
    return line.launch == state_->launch ? &line : nullptr;
  }

  Line& line_at(Written& written, std::uint32_t number) const {
    std::unique_ptr<Page>& page = written.pages[number / kPageLines];
    if (page == nullptr) page = std::make_unique<Page>();
    Line& line = (*page)[number % kPageLines];
    if (line.launch != state_->launch) {
      line = {};
      line.launch = state_->launch;
    }
    return line;
  }

  void add_rows(Line& line, std::uint32_t number, const Rows& rows, std::uint32_t words) {
    if ((line.words & ~words) == 0) {
      line.details = ptx::kNone;
      line.rows = rows;
    } else if (line.details != ptx::kNone || line.rows != rows) {
      Words& each = detailed(line, number);
      for_each_bit(words, [&](unsigned word) {
        each[word] = word_of(rows, number * kLineBytes + word * kWordBytes);
      });
    }
    line.words |= words;
  }

  // Returns the words of a line, which no longer has `rows`.
  Words& detailed(Line& line, std::uint32_t number) {
    if (line.details != ptx::kNone) return state_->details[line.details];
    line.details = static_cast<std::uint32_t>(state_->details.size());
    Words& words = state_->details.emplace_back();
    for_each_bit(line.words, [&](unsigned word) {
      words[word] = word_of(line.rows, number * kLineBytes + word * kWordBytes);
    });
    return words;
  }

  //   offset: of the word
  static Word word_of(const Rows& rows, std::uint32_t offset) {
    const std::uint32_t last = offset + kWordBytes - 1;
    const std::uint32_t thread = rows.step == 0 ? rows.base : (last - rows.base) / rows.step;
    return {rows.pc, rows.block, static_cast<std::uint16_t>(thread), 0xf};
  }

  // Returns whether a lane may read a word that the launch has written.
  [[nodiscard]] bool is_written(const Written& written, const RowAccess& row) const {
    if (row.pattern != Pattern::strided) {
      std::uint32_t mask = row.pattern == Pattern::uniform ? row.mask & -row.mask : row.mask;
      for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(mask));
        if (find(written, row.offset_of(lane), row.bytes).bytes != 0) return true;
      }
      return false;
    }
    const auto lead = static_cast<std::uint32_t>(std::countr_zero(row.mask));
    const auto lanes_end = static_cast<std::uint32_t>(32 - std::countl_zero(row.mask));
    const std::uint32_t begin = (row.first + lead * row.bytes) / kWordBytes;
    const std::uint32_t last = (row.first + lanes_end * row.bytes - 1) / kWordBytes;
    for (std::uint32_t number = begin / kLineWords; number <= last / kLineWords; ++number) {
      const Line* const line = find_line(written, number);
      if (line == nullptr) continue;
      const std::uint32_t line_0 = number * kLineWords;
      const std::uint32_t read = words_between(std::max(begin, line_0) - line_0,
                                               std::min(last + 1, line_0 + kLineWords) - line_0);
      if ((line->words & read) != 0) return true;
    }
    return false;
  }

  // Returns who has written the bytes, or a word without bytes.
  [[nodiscard]] Word find(const Written& written, std::uint32_t offset, std::uint32_t bytes) const {
    for (std::uint32_t at = offset; at < offset + bytes; at += kWordBytes - at % kWordBytes) {
      const Line* const line = find_line(written, at / kLineBytes);
      const std::uint32_t index = at / kWordBytes % kLineWords;
      if (line == nullptr || (line->words >> index & 1) == 0) continue;
      const Word word = line->details == ptx::kNone ? word_of(line->rows, at - at % kWordBytes)
                                                    : state_->details[line->details][index];
      const std::uint32_t in_word = std::min(offset + bytes - at, kWordBytes - at % kWordBytes);
      if ((word.bytes >> at % kWordBytes & ((1u << in_word) - 1)) != 0) return word;
    }
    return {};
  }

  // A race of the same two instructions has the same key, so that it is not reported twice.
  void report(const Access& access, unsigned lane, const Word& word) {
    const Program& program = *access.program;
    const InstrKind kind = program.code[word.pc].kind;
    const AccessKind written_by =
        kind == InstrKind::atomic ? AccessKind::atomic : AccessKind::write;
    const Reporter::Key key =
        key_of_race(program, {word.pc, written_by}, {access.pc, access.kind}, Weight::race);
    reporter_.report(key, Relation::none, [&] {
      const bool is_texture = program.code[access.pc].kind == InstrKind::texture;
      return race_finding(
          reporter_, access, lane, Weight::race,
          reporter_.side(role_at(program, word.pc, written_by), program, word.pc,
                         {word.block, word.thread}),
          {Lack::coherent_read,
           is_texture ? "textures and surfaces need not see what the same launch has written: (2) "
                        "may read what was there before (1)"
                      : "(2) is a load for memory that nothing writes while the kernel runs "
                        "(__ldg(), or const and __restrict__): it may read what was there before "
                        "(1), even after a barrier"});
    });
  }

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

}  // namespace

std::unique_ptr<Checker> make_noncoherent_reads_checker(Reporter& reporter) {
  return std::make_unique<NoncoherentReadChecker>(reporter);
}

}  // namespace warpcheck::vgpu
