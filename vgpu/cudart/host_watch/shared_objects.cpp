#include "vgpu/cudart/host_watch/shared_objects.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <variant>

#include "vgpu/cudart/libraries/library_call.hpp"

namespace warpcheck::cudart {
namespace {

AddressRange range_of(const vgpu::Allocation& allocation) {
  return {allocation.address, allocation.address + allocation.bytes};
}

class Followed {
 public:
  explicit Followed(vgpu::DeviceMemory& memory) : memory_(memory), end_(memory.live_mapped_end()) {}

  void follow_words(const std::byte* data, std::size_t bytes) {
    bytes = std::min(bytes, left_);
    left_ -= bytes;
    for (std::size_t at = 0; at < bytes; at += kStretch) {
      const std::size_t stretch = std::min(kStretch, bytes - at);
      if (stretch == kStretch && !may_have_addresses(data + at)) continue;
      for (std::size_t i = 0; i + sizeof(std::uint64_t) <= stretch; i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, data + at + i, sizeof word);
        if (word >= vgpu::kHeapBase && word < end_) add(memory_.find(word));
      }
    }
  }
  void add(const vgpu::Allocation* found) {
    if (found == nullptr || !objects_.insert(found).second) return;
    if (found->has_two_views()) ranges_.push_back(range_of(*found));
    follow_words(found->data, std::min<std::size_t>(found->bytes, kBytesFollowed));
  }
  std::vector<AddressRange> ranges() && { return std::move(ranges_); }

 private:
  // Most memory contains no addresses, and is passed over by vectors of the halves of its words:
  // the upper half of an address lies between those of the first and of the last one.
  static constexpr std::size_t kStretch = 128;
  [[nodiscard]] bool may_have_addresses(const std::byte* data) const {
    using Halves [[gnu::vector_size(16)]] = std::uint32_t;
    constexpr std::uint32_t kFirst = vgpu::kHeapBase >> 32;
    const auto count = static_cast<std::uint32_t>(end_ >> 32) - kFirst;
    Halves found{};
    for (std::size_t at = 0; at < kStretch; at += sizeof(Halves)) {
      Halves halves;
      std::memcpy(&halves, data + at, sizeof halves);
      found |= reinterpret_cast<Halves>(halves - kFirst <= count);
    }
    return (found[1] | found[3]) != 0;  // the upper ones
  }

  vgpu::DeviceMemory& memory_;
  std::uint64_t end_;  // of all addresses
  std::size_t left_ = kBytesFollowedInAll;
  std::set<const vgpu::Allocation*> objects_;
  std::vector<AddressRange> ranges_;
};

// Adds the rows of a place that is in mapped memory.
void add_rows(vgpu::DeviceMemory& memory, const Place& place, const Box& box,
              std::vector<AddressRange>& ranges) {
  const auto begin = reinterpret_cast<std::uint64_t>(place.pointer);
  const vgpu::Allocation* const found = memory.find(begin);
  if (found == nullptr || !found->has_two_views() || box.bytes() == 0) return;
  const std::uint64_t end =
      begin + (box.depth - 1) * place.slice + (box.height - 1) * place.pitch + box.width;
  ranges.push_back({begin, std::min(end, range_of(*found).end)});
}

// Adds the range from the first byte of an operand to its last, limited to its allocation.
void add_region(vgpu::DeviceMemory& memory, const LibraryRegion& region,
                std::vector<AddressRange>& ranges) {
  const auto begin = reinterpret_cast<std::uint64_t>(region.pointer);
  const vgpu::Allocation* const found = memory.find(begin);
  const bool is_empty = region.height < 1 || region.depth < 1;
  if (region.on_host || is_empty || found == nullptr || !found->has_two_views()) return;
  using Wide = __int128;  // sizes may have any value
  const Wide bytes = Wide{region.depth - 1} * region.slice +
                     Wide{region.height - 1} * region.pitch +
                     Wide{region.shape.reach(region.width, region.height)} * region.element_bytes;
  const std::uint64_t left = range_of(*found).end - begin;
  if (bytes > 0)
    ranges.push_back({begin, begin + static_cast<std::uint64_t>(std::min<Wide>(bytes, left))});
}

// Arrays of pointers lead to further operands.
std::vector<AddressRange> ranges_of(vgpu::DeviceMemory& memory, const LibraryCall& call) {
  Followed followed(memory);
  std::vector<AddressRange> ranges;
  for (const LibraryCall::Operand& operand : call.operands()) {
    const LibraryRegion& region = operand.region;
    add_region(memory, region, ranges);
    const vgpu::Allocation* const found =
        memory.find(reinterpret_cast<std::uint64_t>(region.pointer));
    if (region.addresses && found != nullptr) followed.add(found);
  }
  for (const AddressRange& range : std::move(followed).ranges()) ranges.push_back(range);
  return ranges;
}

}  // namespace

std::vector<AddressRange> shared_ranges(vgpu::DeviceMemory& memory, const Work& work) {
  std::vector<AddressRange> ranges;
  if (memory.live_mapped_end() == 0) return ranges;
  if (const auto* const copy = std::get_if<CopyWork>(&work)) {
    add_rows(memory, copy->target, copy->box, ranges);
    if (!copy->staged) add_rows(memory, copy->source, copy->box, ranges);
  } else if (const auto* const fill = std::get_if<FillWork>(&work)) {
    add_rows(memory, fill->target, fill->box, ranges);
  } else if (const auto* const library = std::get_if<LibraryWork>(&work)) {
    return ranges_of(memory, *library->call);
  } else if (const auto* const kernel = std::get_if<KernelWork>(&work)) {
    Followed followed(memory);
    followed.follow_words(kernel->parameters.data(), kernel->parameters.size());
    for (const vgpu::Allocation* const variable : memory.mapped_variables()) followed.add(variable);
    return std::move(followed).ranges();
  }
  return ranges;
}

}  // namespace warpcheck::cudart
