#include "vgpu/check/race/rows/row_log.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/check/order/bits.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr unsigned kWordBits = 64;

// Calls visit(bits) for each 64 cells of the row, ascending.
template <typename Visit>
void for_each_word(const RowLog::Row& row, Visit visit) {
  if (row.uniform) {
    visit((std::uint64_t{1} << (1u << row.cells_log2)) - 1);
  } else if (row.cells_log2 == 0) {
    visit(std::uint64_t{row.mask});
  } else if (row.cells_log2 == 1) {
    visit(twice(row.mask));
  } else {
    visit(twice(twice(row.mask & 0xffff)));
    visit(twice(twice(row.mask >> 16)));
  }
}

struct Placed {
  std::size_t word;
  std::uint64_t low, high;  // of this word and the next
};

[[gnu::always_inline]] inline Placed place(std::uint64_t bits, std::uint64_t at) {
  const auto shift = static_cast<unsigned>(at % kWordBits);
  return {at / kWordBits, bits << shift, bits >> 1 >> (kWordBits - 1 - shift)};
}

// The cells from the first to the last lane, active or not.
std::int64_t cells_of(const RowLog::Row& row) {
  return std::int64_t{row.uniform ? 1 : 32} << row.cells_log2;
}

bool may_meet(const RowLog::Row& a, const RowLog::Row& b) {
  if (a.cell >= b.cell + cells_of(b) || b.cell >= a.cell + cells_of(a)) return false;
  if (a.uniform || b.uniform || a.cells_log2 != 0 || b.cells_log2 != 0) return true;
  return a.cell <= b.cell ? (a.mask >> (b.cell - a.cell) & b.mask) != 0
                          : (b.mask >> (a.cell - b.cell) & a.mask) != 0;
}

// Whether program order, or that of a lockstep warp, relates them in every cell.
bool same_threads(const RowLog::Row& a, const RowLog::Row& b, std::uint64_t ordered_threads) {
  if (a.warp != b.warp) return false;
  if (ordered_threads == kOrderedInWarp) return true;
  return !a.uniform && !b.uniform && a.cell == b.cell && a.cells_log2 == b.cells_log2;
}

}  // namespace

void RowLog::begin(std::uint32_t bytes) {
  const std::size_t words = (bytes / 4 + 2 * kSlackCells) / kWordBits + 2;
  if (read_.size() < words) {
    read_.assign(words, 0);
    written_.assign(words, 0);
    notes_.read = read_.data();
    notes_.written = written_.data();
  } else if (count() != 0) {
    std::ranges::fill(read_, 0);
    std::ranges::fill(written_, 0);
  }
  if (std::exchange(atomic_bytes_, 0) != 0) std::ranges::fill(counted_, 0);
  notes_.next = rows_.data();
  updated_ = updates_counted_ = 0;
  atomics_.clear();
  looks_ = 0;
  open_ = true;
  set_limit();
}

// Whether atomics of so many bytes may be taken, from now on alone.
bool RowLog::may_update(std::uint8_t bytes) {
  if (bytes != 4 && bytes != 8) return false;
  if (atomic_bytes_ == 0) {
    atomic_bytes_ = bytes;
    counted_.resize(written_.size());
    set_limit();
  }
  return bytes == atomic_bytes_;
}

// An aligned atomic lies in one word of bits.
std::pair<std::size_t, std::uint64_t> RowLog::bits_at(std::uint32_t offset) const {
  const std::uint64_t cells = atomic_bytes_ == 8 ? 3 : 1;
  const auto at = static_cast<std::uint64_t>(offset / 4 + kSlackCells);
  return {at / kWordBits, cells << at % kWordBits};
}

// Whether some lane is where other accesses have been.
bool RowLog::has_met(const Access& access) const {
  std::uint64_t met = 0;
  for_each_bit(access.mask, [&](unsigned lane) {
    const auto [word, bits] = bits_at(access.offset[lane]);
    met |= (read_[word] | written_[word]) & bits;
  });
  return met != 0;
}

void RowLog::count(const Offsets& offset, std::uint32_t mask) {
  for_each_bit(mask, [&](unsigned lane) {
    const auto [word, bits] = bits_at(offset[lane]);
    counted_[word] |= bits;
  });
}

bool RowLog::take_atomics(const Access& access, std::uint32_t segment, const ThreadOrder& order) {
  if (atomics_.rows() == kAtomicsMax || !may_update(access.bytes) || has_met(access)) return false;
  count(access.offset, access.mask);
  atomics_.add(access, segment, order);
  return true;
}

// Most phases with atomics have nothing else, so bits are set when something comes.
bool RowLog::take_updates(const Access& access, unsigned access_class) {
  if (access.asynchronous || access.elements() != 1 || updated_ == kAtomicsMax) return false;
  if (!may_update(access.bytes) || (count() != 0 && has_met(access))) return false;
  if (updated_ == updates_.size()) updates_.resize(std::max<std::size_t>(2 * updated_, 16));
  UpdateRow& row = updates_[updated_++];
  row.offset = access.offset;
  row.pc = access.pc;
  row.mask = access.mask;
  row.warp = access.place.warp;
  row.access_class = static_cast<std::uint8_t>(access_class);
  row.bytes = access.bytes;
  row.pattern = access.pattern;
  return true;
}

// The rows of this phase that have met this one's cells, and at least one of both is a write.
bool RowLog::is_ordered(const Row& row, std::uint64_t ordered_threads) {
  looks_ += count();
  if (looks_ > kLooksMax) return false;
  return std::ranges::all_of(rows(), [&](const Row& earlier) {
    return !(earlier.write || row.write) || same_threads(earlier, row, ordered_threads) ||
           !may_meet(earlier, row);
  });
}

// Makes room for a row.  False: there are enough.
bool RowLog::grow() {
  const std::size_t before = count();
  if (before == kRowsMax) return false;
  rows_.resize(std::max<std::size_t>(2 * before, 64));
  notes_.next = rows_.data() + before;
  set_limit();
  return true;
}

bool RowLog::take(const Row& row, std::uint64_t ordered_threads) {
  if (count() == rows_.size() && !grow()) return false;
  if (row.uniform && row.write && (row.mask & (row.mask - 1)) != 0 &&
      ordered_threads != kOrderedInWarp)
    return false;

  for (; updates_counted_ < updated_; ++updates_counted_) {
    count(updates_[updates_counted_].offset, updates_[updates_counted_].mask);
  }
  std::uint64_t met = 0, counted = 0;
  const auto begin = static_cast<std::uint64_t>(row.cell + kSlackCells);
  std::uint64_t at = begin;
  for_each_word(row, [&](std::uint64_t bits) {
    const auto [word, low, high] = place(bits, at);
    met |= (written_[word] & low) | (written_[word + 1] & high);
    if (row.write) met |= (read_[word] & low) | (read_[word + 1] & high);
    if (atomic_bytes_ != 0) counted |= (counted_[word] & low) | (counted_[word + 1] & high);
    at += kWordBits;
  });
  if (counted != 0) return false;
  if (met != 0 && !is_ordered(row, ordered_threads)) return false;

  Cells& mine = row.write ? written_ : read_;
  at = begin;
  for_each_word(row, [&](std::uint64_t bits) {
    const auto [word, low, high] = place(bits, at);
    mine[word] |= low;
    mine[word + 1] |= high;
    at += kWordBits;
  });
  *notes_.next++ = row;
  return true;
}

bool RowLog::take_runs(const Row& row, const std::uint32_t* offsets, std::uint32_t begins,
                       std::uint64_t ordered_threads) {
  const std::size_t before = count();
  const bool is_simple = row.cells_log2 == 0 && !(row.uniform && row.write) && atomic_bytes_ == 0;
  bool is_taken = false;
  if (is_simple && rows_.size() - before >= kRunsMax) {
    is_taken = row.uniform ? take_runs_of_words<true>(row, offsets, begins, ordered_threads)
                           : take_runs_of_words<false>(row, offsets, begins, ordered_threads);
  } else {
    is_taken = for_each_run(begins, row.mask, [&](unsigned first, std::uint32_t lanes) {
      Row run = row;
      const std::uint32_t into_row = row.uniform ? 0 : first << row.cells_log2;
      run.cell = static_cast<std::int32_t>((offsets[first] >> 2) - into_row);
      run.mask = lanes;
      return take(run, ordered_threads);
    });
  }
  // Bits that are left behind make others look closer, no more.
  if (!is_taken) notes_.next = rows_.data() + before;
  return is_taken;
}

// There is room for all of them.
template <bool kUniform>
bool RowLog::take_runs_of_words(Row row, const std::uint32_t* offsets, std::uint32_t begins,
                                std::uint64_t ordered_threads) {
  const std::uint64_t* const written = written_.data();
  const std::uint64_t* const read = read_.data();
  std::uint64_t* const mine = row.write ? written_.data() : read_.data();
  const std::uint32_t mask = row.mask;
  return for_each_run(
      begins, mask, [&](unsigned first, std::uint32_t lanes) __attribute__((always_inline)) {
        row.cell = static_cast<std::int32_t>((offsets[first] >> 2) - (kUniform ? 0 : first));
        row.mask = lanes;
        *notes_.next = row;
        const auto [word, low, high] =
            place(kUniform ? 1 : lanes, static_cast<std::uint64_t>(row.cell + kSlackCells));
        std::uint64_t met = (written[word] & low) | (written[word + 1] & high);
        if (row.write) met |= (read[word] & low) | (read[word + 1] & high);
        if (met != 0 && !is_ordered(row, ordered_threads)) return false;
        mine[word] |= low;
        mine[word + 1] |= high;
        ++notes_.next;
        return true;
      });
}

}  // namespace warpcheck::vgpu
