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

// Takes a row of single words whose accesses so far all come before all its lanes, so that only its
// own lanes can meet: all words are looked at, then changed, then looked at for another lane's
// mark.  One lane after the other, as below, takes three times as long if lanes meet at random.
// Nothing: it is no such row, and nothing has changed.
template <typename Lanes>
[[gnu::always_inline]] inline std::optional<bool> OrderedWords::take_at_once(const Row& row,
                                                                             const Lanes& lanes) {
  const std::uint64_t kind = bit_of(row.kind), mine = Word::of(row.segment, 0, kind, kind).bits;
  const std::uint64_t actors = order_->threads().is_lockstep() ? 0 : ~std::uint64_t{0};
  Word* const words = words_.data();
  std::array<SegmentId, kKnown> known{};
  const bool are_before = lanes([&](unsigned lane) {
    const Word word = words[row.offsets[lane] / 4];
    if (word.bits == 0 || (word.segment() == known[word.segment() % kKnown] && word.segment() != 0))
      return true;
    return comes_before(word.segment(), row, known);
  });
  if (!are_before) return {};
  lanes([&](unsigned lane) {
    std::uint64_t& bits = words[row.offsets[lane] / 4].bits;
    bits = mine | (lane & actors) << Word::kLane | (bits & kOfKinds);
    return true;
  });
  std::uint32_t met = 0;  // lanes whose words have the mark of a later one
  lanes([&](unsigned lane) {
    met |= std::uint32_t{words[row.offsets[lane] / 4].lane() != (lane & actors)} << lane;
    return true;
  });
  if (met != 0 && !commute(kind)) return false;
  for (; met != 0; met &= met - 1) {
    Word& word = words[row.offsets[std::countr_zero(met)] / 4];
    word.bits |= Word::kMany << Word::kLane;
  }
  return true;
}

// Returns whether the segment comes before all lanes of the row.
//   known: such segments, by their last bits
bool OrderedWords::comes_before(SegmentId segment, const Row& row,
                                std::array<SegmentId, kKnown>& known) const {
  SegmentId& last = known[segment % kKnown];
  if (segment == 0 || segment == row.segment) return false;
  if (segment != last &&
      order_->before(segment, row.segment, row.place) != ThreadOrder::Before::all_lanes) {
    return false;
  }
  last = segment;
  return true;
}

bool OrderedWords::take(const Row& row) {
  std::optional<bool> is_taken;
  if (row.words == 1 && row.mask == ~0u) {
    is_taken = take_at_once(row, [](auto visit) {
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        if (!visit(lane)) return false;
      }
      return true;
    });
  } else if (row.words == 1) {
    is_taken = take_at_once(row, [mask = row.mask](auto visit) {
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        if (!visit(static_cast<unsigned>(std::countr_zero(rest)))) return false;
      }
      return true;
    });
  }
  return is_taken ? *is_taken : take_in_turn(row);
}

bool OrderedWords::take_in_turn(const Row& row) {
  const std::uint64_t kind = bit_of(row.kind);
  const std::uint64_t mine = Word::of(row.segment, 0, kind, kind).bits;
  std::array<SegmentId, kKnown> known{};
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
