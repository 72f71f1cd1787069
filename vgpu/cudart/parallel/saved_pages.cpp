#include "vgpu/cudart/parallel/saved_pages.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "vgpu/machine/undefined/memory_shadow.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::size_t kBlocksKept = 64;
// Machines would wait for each other if each page were counted.
constexpr std::int64_t kGranted = std::int64_t{1} << 20;
// Bytes of the race checker's shadows per byte that a machine touches.
constexpr std::int64_t kShadowBytes = 9;

enum PageState : std::uint8_t { kUntouched, kBusy, kKept };

}  // namespace

std::byte* KeptPages::take(std::uint32_t bytes) {
  const std::size_t left_of_block = kBlockBytes - used_ % kBlockBytes;
  if (left_of_block < bytes) used_ += left_of_block;
  const std::size_t block = used_ / kBlockBytes;
  if (block >= blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<Block>());
  std::byte* const at = blocks_[block]->data() + used_ % kBlockBytes;
  used_ += bytes;
  return at;
}

void KeptPages::add(std::byte* data, std::uint32_t bytes, vgpu::MemoryShadow* states,
                    std::uint32_t offset) {
  Page page{.data = data, .states = states, .offset = offset, .bytes = bytes};
  const auto common = states == nullptr ? std::nullopt : states->common_state(offset, bytes);
  page.is_alike = common.has_value();
  page.state = common.value_or(0);
  const bool keeps_states = states != nullptr && !page.is_alike;
  page.has_one_value = std::memcmp(data, data + 1, bytes - 1) == 0;
  page.value = *data;
  const std::uint32_t data_bytes = page.has_one_value ? 0 : bytes;
  if (data_bytes != 0 || keeps_states) {
    std::byte* const kept = take(data_bytes + (keeps_states ? bytes : 0));
    std::memcpy(kept, data, data_bytes);
    if (keeps_states) {
      states->read(offset, bytes, reinterpret_cast<std::uint8_t*>(kept + data_bytes));
    }
    page.kept = kept;
  }
  pages_.push_back(page);
}

void KeptPages::put_back() const {
  for (const Page& page : pages_) {
    const std::byte* kept = page.kept;
    if (page.has_one_value) {
      std::memset(page.data, std::to_integer<int>(page.value), page.bytes);
    } else {
      std::memcpy(page.data, kept, page.bytes);
      kept += page.bytes;
    }
    if (page.states == nullptr) continue;
    if (page.is_alike) {
      page.states->set(page.offset, page.bytes, page.state);
    } else {
      page.states->write(page.offset, page.bytes, reinterpret_cast<const std::uint8_t*>(kept));
    }
  }
}

void KeptPages::clear() {
  pages_.clear();
  used_ = 0;
  granted = 0;
  if (blocks_.size() > kBlocksKept) blocks_.resize(kBlocksKept);
}

void SavedPages::begin(const vgpu::Checkers& whole, std::uint64_t bytes_max) {
  flags_.clear();
  whole_ = &whole;
  left_ = static_cast<std::int64_t>(bytes_max);
}

bool SavedPages::count_bytes(std::int64_t bytes) {
  return left_.fetch_sub(bytes, std::memory_order_relaxed) >= bytes;
}

bool SavedPages::count_shadows() { return count_bytes(kShadowBytes * kParallelPageBytes); }

SavedPages::Flags& SavedPages::flags_of(const vgpu::Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Flags>& flags = flags_[allocation.id];
  if (flags == nullptr) {
    flags =
        std::make_unique<Flags>((allocation.bytes + kParallelPageBytes - 1) / kParallelPageBytes);
  }
  return *flags;
}

bool SavedPages::keep(Flags& flags, const vgpu::Allocation& allocation, std::uint32_t page,
                      KeptPages& by) {
  std::atomic<std::uint8_t>& state = flags[page].state;
  std::uint8_t seen = state.load(std::memory_order_acquire);
  if (seen == kUntouched && state.compare_exchange_strong(seen, kBusy, std::memory_order_acquire)) {
    const std::uint64_t begin = std::uint64_t{page} * kParallelPageBytes;
    const auto bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(kParallelPageBytes, allocation.bytes - begin));
    by.add(allocation.data + begin, bytes, whole_->states_of(allocation),
           static_cast<std::uint32_t>(begin));
    state.store(kKept, std::memory_order_release);
    by.granted -= 2 * kParallelPageBytes;
    if (by.granted >= 0) return true;
    by.granted += kGranted;
    return count_bytes(kGranted);
  }
  while (seen != kKept) seen = state.load(std::memory_order_acquire);
  return true;
}

}  // namespace warpcheck::cudart
