#include "vgpu/check/race/rows/ordered_words.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t bit_of(AccessKind kind) { return 1u << static_cast<unsigned>(kind); }

// Returns whether accesses of these kinds need no order.
constexpr bool commute(std::uint64_t kinds) {
  return kinds == bit_of(AccessKind::read) || kinds == bit_of(AccessKind::atomic);
}

}  // namespace

void OrderedWords::begin(std::uint32_t bytes, ThreadOrder& order) {
  order_ = &order;
  words_.assign(bytes / 4 + 1, {});
}

// Calls visit(word, lane) for each word of each lane, until it returns false.
template <typename Visit>
[[gnu::always_inline]] inline bool OrderedWords::for_each_word(const Row& row, Visit visit) {
  const unsigned actors = order_->threads().is_lockstep() ? 0 : ~0u;
  Word* const words = words_.data();
  if (row.words == 1 && row.mask == ~0u) [[likely]] {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (!visit(words[row.offsets[lane] / 4], lane & actors)) return false;
    }
    return true;
  }
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::size_t first = row.offsets[lane] / 4;
    for (std::size_t at = first; at < first + row.words; ++at) {
      if (!visit(words[at], lane & actors)) return false;
    }
  }
  return true;
}

// Adds an access to a word whose latest accesses are not known to come before it.  False: it may
// race with them.
bool OrderedWords::touch(Word& word, SegmentId now, std::uint64_t lane, std::uint64_t kind) const {
  const std::uint64_t latest = word.latest() | kind, kinds = word.kinds() | kind;
  const auto become = [&](std::uint64_t by) {
    word = Word::of(now, by, latest, kinds);
    return true;
  };
  if (word.segment() == 0) return commute(kinds);
  if (word.segment() == now) {
    if (word.lane() == Word::kNobody || word.lane() == lane) return become(lane);
    return commute(latest) && become(Word::kMany);
  }
  const bool is_own =
      word.lane() == lane && order_->segments().are_of_same_warp(word.segment(), now);
  if (is_own) return become(lane);
  word = Word::of(0, 0, 0, kinds);
  return commute(kinds);
}

bool OrderedWords::take(const Row& row) {
  const std::uint64_t kind = bit_of(row.kind);
  const std::uint64_t mine = Word::of(row.segment, 0, kind, kind).bits;
  constexpr std::uint64_t kOfKinds = ~std::uint64_t{0} << Word::kKinds;
  // Segments that come before all lanes of the row, by their last bits.
  std::array<SegmentId, 8> known{};
  return for_each_word(row, [&](Word& word, std::uint64_t lane) {
    const SegmentId earlier = word.segment();
    SegmentId& last = known[earlier % known.size()];
    if (word.bits != 0 && (earlier != last || earlier == 0)) {
      const bool is_before =
          earlier != row.segment && earlier != 0 &&
          order_->before(earlier, row.segment, row.place) == ThreadOrder::Before::all_lanes;
      if (!is_before) return touch(word, row.segment, lane, kind);
      last = earlier;
    }
    word.bits = mine | lane << Word::kLane | (word.bits & kOfKinds);
    return true;
  });
}

bool OrderedWords::take_earlier(const Row& row) {
  const SegmentId now = order_->segment_of(row.place, false);
  if (row.segment == now) return take(row);
  if (order_->before(row.segment, now, row.place) != ThreadOrder::Before::all_lanes) return false;
  return for_each_word(row, [&](Word& word, std::uint64_t) {
    const std::uint64_t kinds = word.kinds() | bit_of(row.kind);
    const bool is_ordered =
        word.bits == 0 || (word.segment() == now && word.lane() == Word::kNobody);
    word = is_ordered ? Word::of(now, Word::kNobody, 0, kinds) : Word::of(0, 0, 0, kinds);
    return is_ordered || commute(kinds);
  });
}

}  // namespace warpcheck::vgpu
