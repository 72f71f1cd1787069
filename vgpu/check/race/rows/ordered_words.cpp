#include "vgpu/check/race/rows/ordered_words.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/machine/compute/simd.hpp"

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
  known_.clear();
}

// Calls visit(word, lane) for each word of each lane, until it returns false.
template <typename Visit>
[[gnu::always_inline]] inline bool OrderedWords::for_each_word(const Row& row, Visit visit) {
  const unsigned actors = order_->threads().is_lockstep() ? 0 : ~0u;
  Word* const words = words_.data();
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

OrderedWords::Known& OrderedWords::known_to(const WarpPlace& place) {
  if (place.warp >= known_.size()) known_.resize(place.warp + 1, kNothingKnown);
  return known_[place.warp];
}

// Returns whether the segment comes before all lanes of the row.
bool OrderedWords::comes_before(SegmentId segment, const Row& row, Known& known) const {
  SegmentId& last = known[segment % known.size()];
  if (segment == 0 || segment == row.segment) return false;
  if (segment != last &&
      order_->before(segment, row.segment, row.place) != ThreadOrder::Before::all_lanes) {
    return false;
  }
  last = segment;
  return true;
}

// Returns whether the words of some lanes were last touched by accesses that come before all lanes
// of the row.
bool OrderedWords::come_before(std::uint32_t lanes, const Row& row, Known& known) const {
  SegmentId last = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const SegmentId segment = words_[row.offsets[std::countr_zero(lanes)] / 4].segment();
    if (segment == last && segment != 0) continue;
    if (!comes_before(segment, row, known)) return false;
    last = segment;
  }
  return true;
}

// Nearly always, all accesses to the words so far come before all lanes of the row, so that only
// its own lanes can meet: one walk looks at all words and changes them.
bool OrderedWords::take(const Row& row) {
  static const RaceRowFunctions& functions = race_row_functions(simd_level());
  if (row.words != 1) return take_in_turn(row);
  Known& known = known_to(row.place);
  // The words were mostly touched together, so what is found for the first one is known of all.
  const Word& first = words_[row.offsets[std::countr_zero(row.mask)] / 4];
  if (first.bits != 0 && !comes_before(first.segment(), row, known)) return take_in_turn(row);
  const std::uint64_t kind = bit_of(row.kind);
  OrderedRow ordered{.words = &words_.data()->bits,
                     .offset = row.offsets,
                     .known = known.data(),
                     .mark = Word::of(row.segment, 0, kind, kind).bits,
                     .actors = order_->threads().is_lockstep() ? 0 : ~std::uint64_t{0},
                     .mask = row.mask,
                     .unsure = row.mask};
  OrderedLanes lanes = functions.mark_ordered(ordered);
  if (lanes.unordered != 0) {
    if (!come_before(lanes.unordered, row, known)) return take_in_turn(row);
    ordered.unsure = 0;
    lanes = functions.mark_ordered(ordered);
  }
  if (lanes.met != 0 && !commute(kind)) return false;
  for (std::uint32_t rest = lanes.met; rest != 0; rest &= rest - 1) {
    Word& word = words_[row.offsets[std::countr_zero(rest)] / 4];
    word.bits |= Word::kMany << Word::kLane;
  }
  return true;
}

// Takes a row one lane after the other.
bool OrderedWords::take_in_turn(const Row& row) {
  const std::uint64_t kind = bit_of(row.kind);
  const std::uint64_t mine = Word::of(row.segment, 0, kind, kind).bits;
  Known& known = known_to(row.place);
  return for_each_word(row, [&](Word& word, std::uint64_t lane) {
    if (word.bits != 0 && !comes_before(word.segment(), row, known)) {
      return touch(word, row.segment, lane, kind);
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
