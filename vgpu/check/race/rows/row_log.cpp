#include "vgpu/check/race/rows/row_log.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/machine/compute/simd.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr LaneMarks make_lane_marks(bool in_lockstep) {
  LaneMarks marks{};
  if (in_lockstep) return marks;
  for (unsigned log2 = 0; log2 < std::size(marks.of_words); ++log2) {
    for (unsigned word = 0; word < kWarpLanes << log2; ++word) {
      marks.of_words[log2][word] = static_cast<std::uint16_t>((word >> log2) * WordMark::kThread);
    }
  }
  return marks;
}

constexpr LaneMarks kThreads = make_lane_marks(false), kWarp = make_lane_marks(true);

constexpr unsigned kWidth = 8;
using Marks [[gnu::vector_size(2 * kWidth)]] = std::uint16_t;

Marks load(const std::uint16_t* from) {
  Marks marks;
  std::memcpy(&marks, from, sizeof marks);
  return marks;
}

void store(std::uint16_t* to, const Marks& marks) { std::memcpy(to, &marks, sizeof marks); }

bool any(const Marks& marks) {
  std::uint64_t halves[2];
  std::memcpy(halves, &marks, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

// Returns all ones for the words of active lanes, starting at word number `word` of the row.
template <unsigned kLog2>
Marks active_at(std::uint32_t mask, unsigned word) {
  constexpr Marks kBits = kLog2 == 0   ? Marks{1, 2, 4, 8, 16, 32, 64, 128}
                          : kLog2 == 1 ? Marks{1, 1, 2, 2, 4, 4, 8, 8}
                                       : Marks{1, 1, 1, 1, 2, 2, 2, 2};
  const auto bits = static_cast<std::uint16_t>(mask >> (word >> kLog2) & 0xff);
  return (Marks)(((Marks{} + bits) & kBits) != 0);
}

// Marks the words of lanes with neighbouring words.
//   mine: the mark of lane 0 for a read, without the lane number
template <unsigned kLog2>
bool mark_row(std::uint16_t* words, const std::uint16_t* lanes, std::uint16_t mine,
              std::uint32_t mask, bool write) {
  constexpr unsigned kCount = kWarpLanes << kLog2;
  constexpr auto kOthers = static_cast<std::uint16_t>(WordMark::kPhase - WordMark::kOwn);
  const auto is_others = [](const Marks& distance) {
    return (Marks)((distance - std::uint16_t{WordMark::kOwn}) < kOthers);
  };
  const std::uint16_t refused = write ? 0xffff : std::uint16_t{WordMark::kWritten};
  Marks races{};
  for (unsigned word = 0; word < kCount; word += kWidth) {
    const Marks distance = load(words + word) ^ (load(lanes + word) + mine);
    races |= is_others(distance) & distance & active_at<kLog2>(mask, word) & refused;
  }
  if (any(races)) return false;
  const auto many = static_cast<std::uint16_t>((mine & ~(WordMark::kPhase - 1)) | WordMark::kMany);
  for (unsigned word = 0; word < kCount; word += kWidth) {
    const Marks before = load(words + word), me = load(lanes + word) + mine;
    const Marks distance = before ^ me;
    const Marks written = write ? Marks{} + std::uint16_t{WordMark::kWritten}
                                : (Marks)(distance == 1) & std::uint16_t{1};
    const Marks others = is_others(distance);
    const Marks marks = (others & many) | (~others & (me | written));
    const Marks active = active_at<kLog2>(mask, word);
    store(words + word, (active & marks) | (~active & before));
  }
  return true;
}

// Marks a word of one thread.
//   mine: its mark for a read
bool mark_word(std::uint16_t& word, std::uint16_t mine, bool write) {
  const unsigned distance = word ^ mine;
  if (distance >= WordMark::kPhase) {
    word = static_cast<std::uint16_t>(mine | (write ? WordMark::kWritten : 0));
  } else if (distance < WordMark::kOwn) {
    word = static_cast<std::uint16_t>(word | (write ? WordMark::kWritten : 0));
  } else if (write || (distance & WordMark::kWritten) != 0) {
    return false;
  } else {
    word = static_cast<std::uint16_t>((mine & ~(WordMark::kPhase - 1)) | WordMark::kMany);
  }
  return true;
}

// Marks a word that several threads read.
//   many: its mark afterwards
bool mark_word_of_many(std::uint16_t& word, std::uint32_t many) {
  const unsigned distance = word ^ many;
  word = static_cast<std::uint16_t>(many);
  return distance >= WordMark::kPhase || (distance & WordMark::kWritten) == 0;
}

}  // namespace

void RowLog::begin(std::uint32_t bytes, std::uint64_t ordered_threads) {
  const std::size_t words = bytes / 4 + 2 * kSlackCells;
  record_.phase += WordMark::kPhase;
  if (storage_.size() < words || record_.phase == WordMark::kPhasesEnd) {
    storage_.assign(std::max(words, storage_.size()), 0);
    record_.marks = storage_.data() + kSlackCells;
    record_.phase = WordMark::kPhase;
  }
  bytes_ = bytes;
  ordered_.end();
  in_lockstep_ = ordered_threads == kOrderedInWarp;
  record_.lanes = in_lockstep_ ? &kWarp : &kThreads;
  record_.next = rows_.data();
  record_.next_update = updates_.data();
  marked_ = settled_ = record_.scattered = 0;
  records_rows_ = records_updates_ = true;
  has_updates_ = false;
  atomics_.clear();
  open_ = true;
  set_limits();
}

// Returns whether atomics of so many bytes may be taken; from then on, only this size.
bool RowLog::may_update(std::uint8_t bytes) {
  if (bytes != 4 && bytes != 8) return false;
  if (updated() == 0 && !has_updates_) record_.update_bytes = bytes;
  return bytes == record_.update_bytes;
}

// Returns whether some lane accesses a word that other accesses have touched.
bool RowLog::has_met(const Access& access) const {
  bool met = false;
  for_each_bit(access.mask, [&](unsigned lane) {
    const std::uint16_t* const words = record_.marks + access.offset[lane] / 4;
    for (unsigned word = 0; word < access.bytes / 4U; ++word) {
      const unsigned distance = words[word] ^ record_.phase;
      met |= distance < WordMark::kPhase && distance != WordMark::kUpdated;
    }
  });
  return met;
}

void RowLog::mark_updates(const Offsets& offset, std::uint32_t mask) {
  const auto mark = static_cast<std::uint16_t>(record_.phase | WordMark::kUpdated);
  for_each_bit(mask, [&](unsigned lane) {
    std::fill_n(record_.marks + offset[lane] / 4, record_.update_bytes / 4, mark);
  });
}

bool RowLog::mark_atomics(const Access& access) {
  if (has_met(access)) return false;
  mark_updates(access.offset, access.mask);
  return true;
}

bool RowLog::take_strong(const Access& access, std::uint32_t segment, const ThreadOrder& order) {
  const bool is_atomic = access.kind == AccessKind::atomic;
  if (atomics_.rows() == kAtomicsMax || (is_atomic && !may_update(access.bytes))) return false;
  const bool taken = follows_order() ? ordered_.take({.segment = segment,
                                                      .place = access.place,
                                                      .mask = access.mask,
                                                      .words = std::max(access.bytes / 4U, 1U),
                                                      .kind = access.kind,
                                                      .offsets = access.offset.data()})
                     : is_atomic     ? mark_atomics(access)
                                     : mark_strong(access);
  if (!taken) return false;
  atomics_.add(access, segment, order, count());
  has_updates_ |= is_atomic;
  if (follows_order()) return true;
  if (!is_atomic) {
    // Machine code does not look at marks when it records atomics, so from now on it reports them.
    records_updates_ = false;
    set_limits();
  } else if (records_updates_ && updates_.empty()) {
    updates_.resize(kRecordedAtomics);
    forget_updates();
  }
  return true;
}

bool RowLog::mark_strong(const Access& access) {
  if (of_strong_.size() < storage_.size()) of_strong_.resize(storage_.size());
  const std::uint16_t* const lanes = record_.lanes->of_words[0];
  const std::uint32_t mine = record_.phase + access.place.warp * kWarpLanes * WordMark::kThread;
  const auto strong = static_cast<std::uint16_t>(record_.phase | WordMark::kStrong);
  const bool write = access.kind == AccessKind::write;
  bool marked = true;
  for_each_bit(access.mask, [&](unsigned lane) {
    for (std::uint32_t i = 0; i < std::max(access.bytes / 4U, 1U); ++i) {
      const std::size_t word = access.offset[lane] / 4 + i;
      std::uint16_t& of_strong = of_strong_[word];
      if (record_.marks[word] != strong) {
        marked &= (record_.marks[word] ^ record_.phase) >= WordMark::kPhase;
        record_.marks[word] = strong;
        of_strong = 0;
      }
      marked &= mark_word(of_strong, static_cast<std::uint16_t>(mine + lanes[lane]), write);
    }
  });
  return marked;
}

void RowLog::add_update(const UpdateRow& update, Access& like, std::uint32_t segment,
                        const ThreadOrder& order) {
  mark_updates(update.offset, update.mask);
  has_updates_ = true;
  like.kind = AccessKind::atomic;
  like.pc = update.pc;
  like.mask = update.mask;
  like.bytes = like.element_bytes = update.bytes;
  like.scope = update.scope;
  like.offset = update.offset;
  like.pattern = pattern_of(update);
  atomics_.add(like, segment, order, count());
}

void RowLog::forget_updates() {
  record_.next_update = updates_.data();
  marked_ = 0;
  set_limits();
}

// Most phases with atomics have no other accesses, so words are marked only when another access
// comes.
bool RowLog::take_updates(const Access& access) {
  const std::size_t before = updated();
  if (access.asynchronous || access.elements() != 1 || before == kAtomicsMax) return false;
  if (!may_update(access.bytes) || (count() != 0 && has_met(access))) return false;
  if (before == updates_.size()) {
    updates_.resize(std::max<std::size_t>(2 * before, 16));
    record_.next_update = updates_.data() + before;
  }
  *record_.next_update++ = {.offset = access.offset,
                            .pc = access.pc,
                            .mask = access.mask,
                            .warp = access.place.warp,
                            .bytes = access.bytes,
                            .scope = access.scope};
  set_limits();
  return true;
}

Pattern pattern_of(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes) {
  const auto first = static_cast<unsigned>(__builtin_ctz(mask));
  bool uniform = true, strided = true;
  for_each_bit(mask, [&](unsigned lane) {
    uniform &= offsets[lane] == offsets[first];
    strided &= offsets[lane] == offsets[first] + (lane - first) * bytes;
  });
  return uniform ? Pattern::uniform : strided ? Pattern::strided : Pattern::scattered;
}

// Drops rows whose words the same lanes have written again later: what such a write leaves in a
// cell does not depend on what came before.  Only the general checker completes rows, so only its
// rows are dropped.
void RowLog::forget_overwritten() {
  using Key = std::tuple<std::int32_t, std::uint32_t, std::uint8_t>;
  std::map<Key, std::uint32_t> written_later;  // lanes
  std::vector<bool> is_kept(count(), true);
  for (std::size_t i = settled_; i-- > 0;) {
    const Row& row = rows_[i];
    if (row.scattered || row.uniform) continue;
    std::uint32_t& later = written_later[{row.cell, row.warp, row.cells_log2}];
    is_kept[i] = (row.mask & ~later) != 0;
    if (row.write) later |= row.mask;
  }
  std::vector<Row> kept;
  std::vector<std::uint32_t> place;  // of a row among those that are kept
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    place.push_back(static_cast<std::uint32_t>(kept.size()));
    if (is_kept[i]) kept.push_back(rows_[i]);
  }
  const std::size_t left = kept.size();
  place.push_back(static_cast<std::uint32_t>(left));
  settled_ = place[settled_];
  atomics_.for_each_row([&](AtomicLog::Row& row) { row.plain_before = place[row.plain_before]; });
  kept.resize(rows_.size());
  rows_ = std::move(kept);
  record_.next = rows_.data() + left;
  set_limits();
}

// Makes room for a row.  False: the maximum is reached.
bool RowLog::grow() {
  if (count() == kRowsMax) {
    forget_overwritten();
    return count() <= kRowsMax / 2;
  }
  const std::size_t before = count();
  rows_.resize(std::max<std::size_t>(2 * before, 64));
  record_.next = rows_.data() + before;
  set_limits();
  return true;
}

// Makes room for the offsets of a scattered row.  False: the maximum is reached.
bool RowLog::grow_offsets() {
  if (offsets_.size() == kScatteredMax) return false;
  offsets_.resize(std::max<std::size_t>(2 * offsets_.size(), 16));
  set_limits();
  return true;
}

// Marks the words that all lanes read, in no order.  Neighbouring lanes often read one word, or
// parts of it.  Mostly, many threads have read it before.
bool RowLog::mark_reads(const Row& row, const std::uint32_t* offsets) {
  const std::uint16_t* const lanes = record_.lanes->of_words[0];
  const std::uint32_t mine = record_.phase + row.warp * kWarpLanes * WordMark::kThread;
  const std::uint32_t many = record_.phase | WordMark::kMany;
  static const auto new_words = race_row_functions(simd_level()).new_words;
  bool marked = true;
  for (std::uint32_t rest = new_words(offsets); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    std::uint16_t& word = record_.marks[offsets[lane] / 4];
    if (word == many) continue;
    const bool is_one = in_lockstep_ || lane + 1 == kWarpLanes || (rest >> (lane + 1) & 1) != 0;
    marked &= is_one ? mark_word(word, static_cast<std::uint16_t>(mine + lanes[lane]), false)
                     : mark_word_of_many(word, many);
  }
  return marked;
}

// Marks the words of lanes in no order, one lane after the other.
bool RowLog::mark_lanes(const Row& row, const std::uint32_t* offsets) {
  const std::uint16_t* const lanes = record_.lanes->of_words[0];
  const std::uint32_t mine = record_.phase + row.warp * kWarpLanes * WordMark::kThread;
  const unsigned words = std::max(row.bytes() / 4, 1u);
  if (!row.write && row.mask == ~0u && words == 1) return mark_reads(row, offsets);
  bool marked = true;
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    std::uint16_t* const word = record_.marks + offsets[lane] / 4;
    for (unsigned i = 0; i < words; ++i) {
      marked &= mark_word(word[i], static_cast<std::uint16_t>(mine + lanes[lane]), row.write);
    }
  }
  return marked;
}

// Marks the word of lanes that all access the same word.
bool RowLog::mark_uniform(const Row& row) {
  const bool is_one = in_lockstep_ || (row.mask & (row.mask - 1)) == 0;
  if (row.write && !is_one) return false;
  const auto lane = static_cast<unsigned>(__builtin_ctz(row.mask));
  const std::uint32_t mine = record_.phase + row.warp * kWarpLanes * WordMark::kThread;
  const std::uint32_t many = record_.phase | WordMark::kMany;
  const auto thread = static_cast<std::uint16_t>(mine + record_.lanes->of_words[0][lane]);
  bool marked = true;
  for (unsigned i = 0; i < 1u << row.cells_log2; ++i) {
    std::uint16_t& word = record_.marks[row.cell + static_cast<std::int32_t>(i)];
    if (is_one) {
      marked &= mark_word(word, thread, row.write);
      continue;
    }
    marked &= mark_word_of_many(word, many);
  }
  return marked;
}

// Takes a row of lanes that access parts of words.
bool RowLog::take_parts(const RowAccess& access, std::uint32_t segment) {
  Row row = row_of(access);
  row.segment = segment;
  row.cells_log2 = static_cast<std::uint8_t>(Row::kParts + std::countr_zero(access.bytes));
  row.uniform = false;
  row.scattered = true;
  if (access.pattern == Pattern::scattered) return take(row, access.offsets);
  Offsets offsets;
  const auto first = static_cast<unsigned>(std::countr_zero(access.mask));
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    offsets[lane] = access.offset_of((access.mask >> lane & 1) != 0 ? lane : first);
  }
  return take(row, offsets.data());
}

void RowLog::mark_copied(const Offsets& offsets, std::uint32_t mask, std::uint32_t bytes) {
  const auto mark = static_cast<std::uint16_t>(record_.phase | WordMark::kCopied);
  for_each_bit(mask, [&](unsigned lane) {
    std::fill_n(record_.marks + offsets[lane] / 4, std::max(bytes / 4, 1U), mark);
  });
}

bool RowLog::mark_copy(const Access& access) {
  if (follows_order()) return false;
  mark_recorded_updates();
  const std::uint32_t copied = record_.phase | WordMark::kCopied;
  bool is_alone = true;
  for_each_bit(access.mask, [&](unsigned lane) {
    const std::uint16_t* const words = record_.marks + access.offset[lane] / 4;
    for (unsigned word = 0; word < std::max(access.bytes / 4U, 1U); ++word) {
      is_alone &= words[word] == copied || (words[word] ^ record_.phase) >= WordMark::kPhase;
    }
  });
  if (is_alone) mark_copied(access.offset, access.mask, access.bytes);
  return is_alone;
}

// Marks the words of atomics that have not been marked yet.
void RowLog::mark_recorded_updates() {
  if (marked_ == updated()) return;
  for (; marked_ < updated(); ++marked_) {
    mark_updates(updates_[marked_].offset, updates_[marked_].mask);
  }
  set_limits();
}

// Returns the offsets of the lanes of a row, in bytes; those of inactive lanes mean nothing.
const std::uint32_t* RowLog::offsets_of(const Row& row, Offsets& storage) const {
  if (row.scattered) return offsets_of(row).data();
  const std::uint32_t step = row.uniform ? 0 : row.bytes();
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    storage[lane] = 4 * static_cast<std::uint32_t>(row.cell) + lane * step;
  }
  return storage.data();
}

// Returns the row as the words know it, without its offsets.
OrderedWords::Row RowLog::in_order(const Row& row) const {
  OrderedWords::Row ordered{.segment = row.segment, .place = place_, .mask = row.mask};
  ordered.place.warp = row.warp;
  ordered.words = std::max(row.bytes() / 4, 1u);
  ordered.kind = row.write ? AccessKind::write : AccessKind::read;
  return ordered;
}

bool RowLog::follow_order(ThreadOrder& order, WarpPlace place) {
  place_ = place;
  ordered_.begin(bytes_, order);
  let_record(false, false);
  Offsets storage;
  for (const Row& row : rows()) {
    OrderedWords::Row ordered = in_order(row);
    ordered.offsets = offsets_of(row, storage);
    if (!ordered_.take_earlier(ordered)) return false;
  }
  bool taken = true;
  const auto first_block = [](std::uint32_t) { return BlockKey{0}; };
  atomics_.for_each(order, first_block, [&](const AtomicLog::Row& row, const Access& access, auto) {
    place.warp = access.place.warp;
    taken = taken && ordered_.take_earlier({.segment = row.segment,
                                            .place = place,
                                            .mask = row.mask,
                                            .words = std::max(row.bytes / 4U, 1U),
                                            .kind = row.kind,
                                            .offsets = access.offset.data()});
  });
  return taken;
}

// Marks the words of a row.  False: it may race with an earlier row.
bool RowLog::mark(const Row& row, const std::uint32_t* offsets) {
  if (row.scattered) return mark_lanes(row, offsets);
  if (row.uniform) return mark_uniform(row);
  const auto mine =
      static_cast<std::uint16_t>(record_.phase + row.warp * kWarpLanes * WordMark::kThread);
  const std::uint16_t* const lanes = record_.lanes->of_words[row.cells_log2];
  constexpr std::array kMarkRow = {mark_row<0>, mark_row<1>, mark_row<2>};
  return kMarkRow[row.cells_log2](record_.marks + row.cell, lanes, mine, row.mask, row.write);
}

bool RowLog::take(const Row& row, const std::uint32_t* offsets) {
  if (count() == rows_.size() && !grow()) return false;
  if (row.scattered && record_.scattered == offsets_.size() && !grow_offsets()) return false;
  mark_recorded_updates();
  if (follows_order()) {
    Offsets storage;
    OrderedWords::Row ordered = in_order(row);
    ordered.offsets = row.scattered ? offsets : offsets_of(row, storage);
    if (!ordered_.take(ordered)) return false;
  } else if (!mark(row, offsets)) {
    return false;
  }
  Row taken = row;
  if (row.scattered) {
    std::copy_n(offsets, kWarpLanes, offsets_[record_.scattered].begin());
    taken.cell = static_cast<std::int32_t>(record_.scattered++);
  }
  *record_.next++ = taken;
  if (taken.segment != 0 && settled_ + 1 == count()) ++settled_;
  return true;
}

}  // namespace warpcheck::vgpu
