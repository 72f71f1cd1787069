#include "vgpu/check/race/race_shadow.hpp"

#include <cstring>
#include <new>

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kBytesPerCell = sizeof(Epoch) + sizeof(std::uint32_t);

std::byte* align_up(std::byte* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return at + (kLineBytes - address % kLineBytes) % kLineBytes;
}

std::size_t memory_bytes(std::size_t cells) { return cells * kBytesPerCell + 2 * kLineBytes; }

}  // namespace

void Shadow::begin(const Period& period, std::uint32_t bytes) {
  used_ = displaced_ = planned_ = 0;
  if (period.launch != period_.launch) granularity_ = kWord;
  period_ = period;
  if (bytes > capacity_) {
    release();
    capacity_ = bytes;
  }
}

// Cells beyond both ends.
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
  // calloc: pages of a large shadow that no access touches are never made.
  cells.memory.reset(static_cast<std::byte*>(std::calloc(memory_bytes(count), 1)));
  if (cells.memory == nullptr) throw std::bad_alloc();
  host_bytes_ += memory_bytes(count);
  std::byte* const epochs = align_up(cells.memory.get());
  std::byte* const pcs = align_up(epochs + count * sizeof(Epoch));
  cells.at = {reinterpret_cast<Epoch*>(epochs) + slack_cells(granularity),
              reinterpret_cast<std::uint32_t*>(pcs) + slack_cells(granularity)};
}

const History& Shadow::history_at(Granularity granularity, unsigned access_class, bool pair) {
  if (classes_[granularity] == nullptr) classes_[granularity] = std::make_unique<Classes>();
  Pair& cells = (*classes_[granularity])[access_class];
  if (cells.last.memory == nullptr) allocate(cells.last, granularity);
  if (pair && cells.other.memory == nullptr) allocate(cells.other, granularity);
  cells.history = {cells.last.at, cells.other.at};
  return cells.history;
}

const History& Shadow::history(unsigned access_class, bool pair) {
  return history_at(granularity_, access_class, pair);
}

void Shadow::split_to_bytes() {
  const auto copy = [this](const CellEpochs& words, const CellEpochs& bytes) {
    for (std::size_t byte = 0; byte < capacity_; ++byte) {
      bytes.epoch[byte] = words.epoch[byte / 4];
      bytes.pc[byte] = words.pc[byte / 4];
    }
  };
  for (unsigned access_class = 0; access_class < kAccessClasses; ++access_class) {
    const std::uint32_t bit = 1u << access_class;
    if ((used_ & bit) == 0) continue;
    const bool pair = (displaced_ & bit) != 0;
    const History words = history_at(kWord, access_class, pair);
    const History bytes = history_at(kByte, access_class, pair);
    copy(words.last, bytes.last);
    if (pair) copy(words.other, bytes.other);
  }
  granularity_ = kByte;
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
  for (const Granularity granularity : {kWord, kByte}) {
    if (classes_[granularity] == nullptr) continue;
    for (Pair& pair : *classes_[granularity]) {
      for (Cells* cells : {&pair.last, &pair.other}) {
        if (cells->memory == nullptr) continue;
        std::memset(cells->memory.get(), 0, memory_bytes(cells_of(granularity)));
      }
    }
  }
}

void Shadow::release() {
  classes_ = {};
  host_bytes_ = 0;
}

}  // namespace warpcheck::vgpu
