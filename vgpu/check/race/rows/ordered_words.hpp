// What the words of a block's shared memory have been through since the last barrier of the whole
// block, where other synchronisation orders a part of it: `__syncwarp()`, a barrier of some warps.
//
// A row races with no earlier one if each word that it touches was last touched by accesses that
// come before all its lanes, or by the same thread, or only by reads if it reads, or only by
// atomics if it is one.  What came before those accesses then comes before the row, too, because
// the order is transitive.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"

namespace warpcheck::vgpu {

class OrderedWords {
 public:
  struct Row {
    SegmentId segment = 0;  // of its lanes
    WarpPlace place;
    std::uint32_t mask = 0;
    std::uint32_t words = 1;  // of a lane
    AccessKind kind = AccessKind::read;
    const std::uint32_t* offsets = nullptr;  // of the lanes, in bytes
  };

  // Begins to follow words that nothing has touched.
  //   bytes: of the memory
  void begin(std::uint32_t bytes, ThreadOrder& order);
  void end() { order_ = nullptr; }
  [[nodiscard]] bool is_on() const { return order_ != nullptr; }

  // Adds a row of the present.  False: it may race with an earlier row.
  bool take(const Row& row);
  // Adds a row from before begin(), in the order of execution.  False: its warp has gone on since,
  // and what the row did does not come before all that the warp does now.
  bool take_earlier(const Row& row);

  // Calls visit(segment) for each segment that a word remembers.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    if (!is_on()) return;
    known_.clear();
    for (Word& word : words_) {
      if (word.segment() == 0) continue;
      SegmentId segment = word.segment();
      visit(segment);
      word = Word::of(segment, word.lane(), word.latest(), word.kinds());
    }
  }

 private:
  // The latest accesses of a word, those in one segment:
  //
  //   [ kinds:8 ][ latest:8 ][ lane:8 ][ segment:32 ]
  //
  // `latest` and `kinds` have one bit for each kind of access, those in the segment and all. `lane`
  // is the thread that made those in the segment, or one of the numbers below.  Without a segment,
  // nothing orders the accesses.  0: there were none.
  struct Word {
    std::uint64_t bits = 0;
    static constexpr unsigned kLane = OrderedRow::kLaneShift, kLatest = 40,
                              kKinds = OrderedRow::kKindsShift;
    static constexpr std::uint64_t kMany = 0xff;    // several threads of the segment
    static constexpr std::uint64_t kNobody = 0xfe;  // all accesses come before the segment
    static Word of(SegmentId segment, std::uint64_t lane, std::uint64_t latest,
                   std::uint64_t kinds) {
      return {segment | lane << kLane | latest << kLatest | kinds << kKinds};
    }
    [[nodiscard]] SegmentId segment() const { return static_cast<SegmentId>(bits); }
    [[nodiscard]] std::uint64_t lane() const { return bits >> kLane & 0xff; }
    [[nodiscard]] std::uint64_t latest() const { return bits >> kLatest & 0xff; }
    [[nodiscard]] std::uint64_t kinds() const { return bits >> kKinds; }
  };

  [[nodiscard]] bool touch(Word& word, SegmentId now, std::uint64_t lane, std::uint64_t kind) const;
  template <typename Visit>
  bool for_each_word(const Row& row, Visit visit);
  // Segments that come before all lanes of a warp, as in OrderedRow.  Threads only learn, so they
  // come before what the warp does later, too.
  using Known = std::array<SegmentId, OrderedRow::kKnown>;
  static constexpr Known kNothingKnown{1};
  static constexpr std::uint64_t kOfKinds = ~std::uint64_t{0} << Word::kKinds;
  [[nodiscard]] Known& known_to(const WarpPlace& place);
  [[nodiscard]] bool comes_before(SegmentId segment, const Row& row, Known& known) const;
  [[nodiscard]] bool come_before(std::uint32_t lanes, const Row& row, Known& known) const;
  bool take_in_turn(const Row& row);

  ThreadOrder* order_ = nullptr;  // null: off
  std::vector<Word> words_;
  std::vector<Known> known_;  // by warp
};

}  // namespace warpcheck::vgpu
