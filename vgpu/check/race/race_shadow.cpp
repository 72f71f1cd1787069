#include "vgpu/check/race/race_shadow.hpp"

#include <new>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kLineBytes = 64;

// The pcs begin at a cache line.
std::size_t pcs_at(std::size_t cells) {
  return (cells * sizeof(Epoch) + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

void Shadow::begin(const Period& period, std::uint32_t bytes) {
  used_ = displaced_ = planned_ = 0;
  lines_in_cells_ = 0;
  if (period.launch != period_.launch) {
    granularity_ = kWord;
    has_been_split_ = false;
  }
  period_ = period;
  if (bytes > capacity_) {
    release();
    capacity_ = bytes;
  }
}

// Returns the number of cells before the first and after the last one.
std::size_t Shadow::slack_cells(Granularity granularity) {
  return granularity == kByte ? kRowSlack : kRowSlack / 4;
}

std::size_t Shadow::cells_of(Granularity granularity) const {
  const std::size_t inside =
      granularity == kByte ? std::size_t{capacity_} : (std::size_t{capacity_} + 3) / 4;
  return inside + 2 * slack_cells(granularity);
}

void Shadow::allocate(Cells& cells, Granularity granularity) {
  const std::size_t count = cells_of(granularity);
  cells.pages = HostPages(pcs_at(count) + count * sizeof(std::uint32_t), std::byte{0});
  if (cells.pages.is_empty()) throw std::bad_alloc();
  host_bytes_ += cells.pages.bytes();
  std::byte* const epochs = cells.pages.data();
  std::byte* const pcs = epochs + pcs_at(count);
  cells.at = {reinterpret_cast<Epoch*>(epochs) + slack_cells(granularity),
              reinterpret_cast<std::uint32_t*>(pcs) + slack_cells(granularity)};
}

const History& Shadow::history_at(Granularity granularity, unsigned access_class, bool pair) {
  if (classes_[granularity] == nullptr) classes_[granularity] = std::make_unique<Classes>();
  Pair& cells = (*classes_[granularity])[access_class];
  if (cells.last.pages.is_empty()) allocate(cells.last, granularity);
  if (pair && cells.other.pages.is_empty()) allocate(cells.other, granularity);
  cells.history = {cells.last.at, cells.other.at};
  return cells.history;
}

const History& Shadow::history(unsigned access_class, bool pair) {
  return history_at(granularity_, access_class, pair);
}

void Shadow::split_to_bytes() {
  has_been_split_ = used_ != 0;
  if (has_been_split_) all_to_cells();
  // A byte cell that gets no copy of a word cell holds only records of an earlier period.
  const auto copy = [this](const Cells& words, const CellEpochs& bytes) {
    for_each_seen(words, 4, [&](std::uint64_t word) {
      for (std::uint64_t byte = 4 * word; byte < std::min<std::uint64_t>(4 * word + 4, capacity_);
           ++byte) {
        bytes.epoch[byte] = words.at.epoch[word];
        bytes.pc[byte] = words.at.pc[word];
      }
    });
  };
  for (unsigned access_class = 0; access_class < kAccessClasses; ++access_class) {
    const std::uint32_t bit = 1u << access_class;
    if ((used_ & bit) == 0) continue;
    const bool pair = (displaced_ & bit) != 0;
    history_at(kWord, access_class, pair);
    const History bytes = history_at(kByte, access_class, pair);
    const Pair& words = (*classes_[kWord])[access_class];
    copy(words.last, bytes.last);
    if (pair) copy(words.other, bytes.other);
  }
  granularity_ = kByte;
  lines_in_cells_ = misfits_ = 0;
  planned_ = 0;
}

void Shadow::make_plan(unsigned access_class, std::uint64_t ordered_threads, bool hands_on) {
  plans_.resize(kAccessClasses);
  Plan& plan = plans_[access_class];
  plan.history = history(access_class, access_class != kWeakWrite);
  plan.checks.clear();
  const auto add = [&](std::uint32_t classes, std::uint64_t class_kin) {
    for (std::uint32_t rest = classes & used_; rest != 0; rest &= rest - 1) {
      const auto earlier_class = static_cast<unsigned>(__builtin_ctz(rest));
      const bool pair = (displaced_ >> earlier_class & 1) != 0;
      const History& cells = history(earlier_class, pair);
      plan.checks.push_back({cells.last.epoch, class_kin});
      if (pair) plan.checks.push_back({cells.other.epoch, class_kin});
    }
  };
  add(kClassRelations.race[access_class], ordered_threads);
  add(kClassRelations.race_across[access_class], kOrderedInBlock);
  if (hands_on) add(kClassRelations.hand_over[access_class], ordered_threads);
  planned_ |= 1u << access_class;
}

void Shadow::clear() {
  for (RowLines& lines : lines_) lines.clear();
  lines_in_cells_ = misfits_ = 0;
  update_class_ = 0;
  for (const Granularity granularity : {kWord, kByte}) {
    if (classes_[granularity] == nullptr) continue;
    for (Pair& pair : *classes_[granularity]) {
      for (Cells* cells : {&pair.last, &pair.other}) {
        if (!cells->pages.is_empty()) cells->pages.fill(0, cells->pages.bytes(), std::byte{0});
      }
    }
  }
}

void Shadow::release() {
  for (RowLines& lines : lines_) lines = {};
  lines_in_cells_ = misfits_ = 0;
  update_class_ = 0;
  classes_ = {};
  planned_ = 0;
  capacity_ = 0;
  host_bytes_ = 0;
}

}  // namespace warpcheck::vgpu
