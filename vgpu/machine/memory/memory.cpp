#include "vgpu/machine/memory/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "vgpu/machine/memory/host_pages.hpp"
#include "vgpu/machine/memory/host_pool.hpp"
#include "vgpu/machine/memory/multicast_places.hpp"
#include "vgpu/machine/memory/regions/regions.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kAlignment = 512;  // of cudaMalloc addresses

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Small mapped allocations share chunks, because a process may have only 65,530 mappings.
constexpr std::uint64_t kChunkBytesMin = std::uint64_t{16} << 20;

// Whole pages, with a red zone before and after.
std::uint64_t mapped_bytes(std::uint64_t bytes) { return round_up(bytes, 4096) + 2 * kRedZone; }

// Host bytes at a wanted address, and the address of a second view of them; null: not available.
struct MappedBytes {
  std::byte* at_address = nullptr;
  std::byte* data = nullptr;
};

// Returns nullptr if that address is not available.
std::byte* map_at(void* wanted, std::size_t bytes, int flags, int file) {
  void* const given =
      ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, file, 0);
  if (given == MAP_FAILED) return nullptr;
  if (given == wanted) return static_cast<std::byte*>(given);
  ::munmap(given, bytes);  // an old Linux kernel without MAP_FIXED_NOREPLACE
  return nullptr;
}

MappedBytes map_twice(void* wanted, std::size_t bytes) {
  MappedBytes mapped;
  const int file = ::memfd_create("warpcheck", MFD_CLOEXEC);
  if (file < 0) return mapped;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    void* const other = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mapped.at_address = other == MAP_FAILED ? nullptr : map_at(wanted, bytes, MAP_SHARED, file);
    if (mapped.at_address != nullptr) {
      mapped.data = static_cast<std::byte*>(other);
    } else if (other != MAP_FAILED) {
      ::munmap(other, bytes);
    }
  }
  ::close(file);
  return mapped;
}

// If a second view is not possible, one view is used.
MappedBytes map_shared_with_host(void* wanted, std::size_t bytes, bool two_views) {
  MappedBytes mapped;
  if (two_views) mapped = map_twice(wanted, bytes);
  if (mapped.at_address == nullptr) {
    mapped.at_address = map_at(wanted, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    mapped.data = mapped.at_address;
  }
  return mapped;
}

// Returns the host memory of a freed allocation, but keeps its addresses reserved, because programs
// allocate and free in loops.
void give_back_pages(const Allocation& freed) {
  ::madvise(freed.data, round_up(freed.bytes, 4096),
            freed.has_two_views() ? MADV_REMOVE : MADV_DONTNEED);
}

}  // namespace

struct DeviceMemory::Arena {
  // A chunk of mapped memory, which is used from its beginning.
  struct Chunk {
    MappedBytes bytes;
    std::size_t size = 0, used = 0;
    [[nodiscard]] std::size_t left() const { return size - used; }
  };
  // Drops the unused end of the chunk; the next chunk begins there.
  static std::byte* cut(Chunk& chunk) {
    std::byte* const end = chunk.bytes.at_address + chunk.used;
    if (chunk.left() != 0) {
      ::munmap(end, chunk.left());
      if (chunk.bytes.data != chunk.bytes.at_address) {
        ::munmap(chunk.bytes.data + chunk.used, chunk.left());
      }
    }
    chunk.size = chunk.used;
    return end;
  }

  // By ascending address within a space; global and constant memory of each device start at their
  // own bases.
  using List = std::vector<std::unique_ptr<Allocation>>;
  std::array<List, kDevicesMax> global, constant;
  List heap, mapped, private_ones;
  List unmapped, views;       // of allocate_unmapped(), and their mappings, by ascending address
  std::vector<Chunk> chunks;  // of mapped memory, by address
  std::vector<const Allocation*> mapped_variables;  // with a name, live or freed
  std::size_t live_mapped = 0;
  std::vector<Allocation*> freed;                     // heap memory, oldest first
  std::vector<std::unique_ptr<Allocation>> recycled;  // for reuse
  std::vector<std::uint32_t> free_ids;                // freed ids, reused lowest first
  std::uint32_t next_id = 0;
  HostPool pool;

  std::uint32_t take_id() {
    if (free_ids.empty()) return next_id++;
    std::pop_heap(free_ids.begin(), free_ids.end(), std::greater<>());
    const std::uint32_t id = free_ids.back();
    free_ids.pop_back();
    return id;
  }
  void give_id(std::uint32_t id) {
    free_ids.push_back(id);
    std::push_heap(free_ids.begin(), free_ids.end(), std::greater<>());
  }
  void give_ids(const Allocation& allocation) {
    give_id(allocation.id);
    for (const Allocation& part : allocation.parts) give_id(part.id);
  }
  // Bytes that move() has given belong to the caller of that.
  void give_bytes(const Allocation& allocation) {
    if (allocation.shared_by == nullptr) pool.give(allocation.data, allocation.bytes);
  }
  void drop_all(std::vector<std::unique_ptr<Allocation>>& list) {
    if (list.empty()) return;
    for (const auto& allocation : list) {
      give_bytes(*allocation);
      give_ids(*allocation);
    }
    // Reversed, so that equal later allocations reuse them in the same order.
    std::move(list.rbegin(), list.rend(), std::back_inserter(recycled));
    list.clear();
  }
  std::unique_ptr<Allocation> make() {
    if (recycled.empty()) return std::make_unique<Allocation>();
    std::unique_ptr<Allocation> allocation = std::move(recycled.back());
    recycled.pop_back();
    std::destroy_at(allocation.get());
    std::construct_at(allocation.get());
    return allocation;
  }
  void drop_heap() {
    for (auto& allocation : heap) {
      if (allocation->live) {
        pool.give(allocation->data, allocation->bytes);
        give_id(allocation->id);
      }
      recycled.push_back(std::move(allocation));
    }
    heap.clear();
    freed.clear();
  }
  void drop_mapped() {
    for (const auto& allocation : mapped) give_ids(*allocation);
    mapped.clear();
    mapped_variables.clear();
    live_mapped = 0;
    for (const Chunk& chunk : chunks) {
      ::munmap(chunk.bytes.at_address, chunk.size);
      if (chunk.bytes.data != chunk.bytes.at_address) ::munmap(chunk.bytes.data, chunk.size);
    }
    chunks.clear();
  }
  // Maps bytes directly after everything that was mapped before; null: not possible.
  MappedBytes map_next(std::size_t bytes, bool two_views) {
    if (chunks.empty() || chunks.back().left() < bytes) {
      std::byte* next = reinterpret_cast<std::byte*>(kMappedBase);
      if (!chunks.empty()) next = cut(chunks.back());
      const std::size_t size = std::max<std::size_t>(bytes, kChunkBytesMin);
      const MappedBytes bytes_of_chunk = map_shared_with_host(next, size, two_views);
      if (bytes_of_chunk.at_address == nullptr) return {};
      chunks.push_back({bytes_of_chunk, size, 0});
    }
    Chunk& chunk = chunks.back();
    const std::size_t at = chunk.used;
    chunk.used += bytes;
    return {chunk.bytes.at_address + at, chunk.bytes.data + at};
  }
  void forget_freed(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) freed[i]->space = ptx::Space::generic;  // a mark
    std::erase_if(heap, [](const auto& one) { return one->space == ptx::Space::generic; });
    freed.erase(freed.begin(), freed.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void drop_global(std::size_t devices) {
    for (std::size_t device = 0; device < devices; ++device) {
      drop_all(global[device]);
      drop_all(constant[device]);
    }
    std::erase_if(unmapped, [](const auto& one) { return !one->live; });
    drop_all(unmapped);
    views.clear();
  }
  [[nodiscard]] const List& list_at(std::uint64_t address, std::size_t devices) const {
    if (address >= kMappedBase) return mapped;
    if (address >= kVirtualBase || is_multicast_place(address)) return views;
    if (address >= kHeapBase && address < kHeapEnd) return heap;
    const bool is_global = address >= kGlobalBase;
    if (devices == 1 || address < kConstantBase) return is_global ? global[0] : constant[0];
    const std::uint64_t device = is_global ? (address - kGlobalBase) / kDeviceGlobalBytes
                                           : (address - kConstantBase) / kDeviceConstantBytes;
    return (is_global ? global : constant)[std::min<std::uint64_t>(device, devices - 1)];
  }
};

DeviceMemory::DeviceMemory() : arena_(std::make_shared<Arena>()), private_arena_(arena_) {}

DeviceMemory::DeviceMemory(const DeviceMemory& whole, std::uint32_t first_id)
    : arena_(whole.arena_),
      private_arena_(std::make_shared<Arena>()),
      devices_(whole.devices_),
      capacity_(whole.capacity_) {
  private_arena_->next_id = first_id;
}

DeviceMemory::~DeviceMemory() {
  private_arena_->drop_all(private_arena_->private_ones);
  if (is_shared()) return;
  arena_->drop_global(devices_.size());
  arena_->drop_heap();
  arena_->drop_mapped();
}

std::uint32_t DeviceMemory::ids_end() const { return arena_->next_id; }

bool DeviceMemory::has_room_for(std::uint64_t bytes, unsigned device) const {
  const std::uint64_t taken = devices_[device].used + kRedZone;
  return taken <= capacity_ && bytes <= capacity_ - taken;
}

void DeviceMemory::make_parts(Allocation& whole) {
  if (whole.bytes <= part_bytes_) return;
  whole.part_bytes = part_bytes_;
  const std::uint64_t count = (whole.bytes + part_bytes_ - 1) / part_bytes_;
  std::vector<Allocation> parts(count, whole);
  for (std::uint64_t i = 0; i < count; ++i) {
    parts[i].id = arena_->take_id();
    parts[i].whole = &whole;
    parts[i].address = whole.address + i * part_bytes_;
    parts[i].data = whole.data + i * part_bytes_;
    parts[i].bytes = std::min(part_bytes_, whole.bytes - i * part_bytes_);
  }
  whole.parts = std::move(parts);
}

std::uint64_t DeviceMemory::global_end(unsigned device) const {
  return device + 1 == devices_.size() ? kVirtualBase
                                       : kGlobalBase + (device + 1) * kDeviceGlobalBytes;
}

Allocation* DeviceMemory::allocate(std::uint64_t bytes, ptx::Space space, std::string_view name,
                                   unsigned device) {
  if (!has_room_for(bytes, device)) return nullptr;
  const bool is_constant = space == ptx::Space::constant;
  auto& list = (is_constant ? arena_->constant : arena_->global)[device];
  std::uint64_t address = is_constant ? kConstantBase + device * kDeviceConstantBytes
                                      : kGlobalBase + device * kDeviceGlobalBytes;
  if (!list.empty()) {
    address = round_up(list.back()->address + list.back()->bytes + kRedZone, kAlignment);
  }
  if (!is_constant && address + bytes + kRedZone > global_end(device)) return nullptr;
  auto allocation = arena_->make();
  allocation->data = arena_->pool.take(bytes);
  if (allocation->data == nullptr) return nullptr;
  allocation->id = arena_->take_id();
  allocation->space = space;
  allocation->address = address;
  allocation->bytes = bytes;
  allocation->read_only = is_constant;
  if (!name.empty()) allocation->name = name;
  allocation->device = static_cast<std::uint8_t>(device);
  make_parts(*allocation);
  devices_[device].add(bytes);
  list.push_back(std::move(allocation));
  return list.back().get();
}

void DeviceMemory::move(Allocation& allocation, std::byte* data, ProcessLock* shared_by) {
  arena_->give_bytes(allocation);
  for (const auto& view : arena_->views) {
    if (!view->live || view->data != allocation.data) continue;
    view->data = data;
    view->shared_by = shared_by;
  }
  allocation.data = data;
  allocation.shared_by = shared_by;
  for (Allocation& part : allocation.parts) {
    part.data = data + (part.address - allocation.address);
    part.shared_by = shared_by;
  }
  shared_by_processes_ = true;
}

bool DeviceMemory::has_mapped() const { return !arena_->mapped.empty(); }

std::uint64_t DeviceMemory::live_mapped_end() const {
  if (arena_->live_mapped == 0) return 0;
  const Allocation& last = *arena_->mapped.back();
  return last.address + last.bytes;
}

std::vector<const Allocation*> DeviceMemory::mapped_variables() const {
  std::vector<const Allocation*> found;
  std::ranges::copy_if(arena_->mapped_variables, std::back_inserter(found), &Allocation::live);
  return found;
}

Allocation* DeviceMemory::allocate_mapped(std::uint64_t bytes, std::string_view name,
                                          unsigned device) {
  if (!has_room_for(bytes, device)) return nullptr;
  auto& list = arena_->mapped;
  const MappedBytes mapped = arena_->map_next(mapped_bytes(bytes), two_views_);
  if (mapped.at_address == nullptr) return nullptr;
  if (fresh_mapped_ == Fresh::pattern) {
    const bool is_one_view = mapped.data == mapped.at_address;
    if (!is_one_view || !map_alike(mapped.data, mapped_bytes(bytes), kFreshByte)) {
      std::memset(mapped.data, static_cast<int>(kFreshByte), mapped_bytes(bytes));
    }
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->data = mapped.data + kRedZone;
  allocation->id = arena_->take_id();
  allocation->address = reinterpret_cast<std::uint64_t>(mapped.at_address) + kRedZone;
  allocation->bytes = bytes;
  allocation->device = static_cast<std::uint8_t>(device);
  allocation->name = name;
  make_parts(*allocation);
  devices_[device].add(bytes);
  ++arena_->live_mapped;
  list.push_back(std::move(allocation));
  if (!name.empty()) arena_->mapped_variables.push_back(list.back().get());
  return list.back().get();
}

Allocation* DeviceMemory::allocate_on_heap(std::uint64_t bytes, unsigned device) {
  OfDevice& own = devices_[device];
  const std::uint64_t left = own.heap_capacity - std::min(own.heap_used, own.heap_capacity);
  if (bytes > left || bytes > kPartBytes) return nullptr;
  const std::uint64_t taken = round_up(std::max(bytes, kHeapAlignment), kHeapAlignment);
  if (taken > left || heap_next_ + taken + kRedZone > kHeapEnd) return nullptr;
  auto allocation = arena_->make();
  allocation->data = arena_->pool.take(bytes);
  if (allocation->data == nullptr) return nullptr;
  allocation->id = arena_->take_id();
  allocation->address = heap_next_;
  allocation->bytes = bytes;
  allocation->device = static_cast<std::uint8_t>(device);
  own.heap_used += taken;
  heap_next_ += taken + kRedZone;
  arena_->heap.push_back(std::move(allocation));
  return arena_->heap.back().get();
}

void DeviceMemory::free_on_heap(Allocation& allocation) {
  devices_[allocation.device].heap_used -=
      round_up(std::max<std::uint64_t>(allocation.bytes, kHeapAlignment), kHeapAlignment);
  arena_->pool.give(allocation.data, allocation.bytes);
  arena_->give_id(allocation.id);
  allocation.data = nullptr;
  arena_->freed.push_back(&allocation);
  if (arena_->freed.size() == 2 * kFreedMin) arena_->forget_freed(kFreedMin);
}

Allocation* DeviceMemory::allocate_unmapped(std::uint64_t bytes, unsigned device) {
  if (!has_room_for(bytes, device)) return nullptr;
  auto memory = std::make_unique<Allocation>();
  memory->data = arena_->pool.take(bytes);
  if (memory->data == nullptr) return nullptr;
  memory->id = arena_->take_id();
  memory->bytes = bytes;
  memory->device = static_cast<std::uint8_t>(device);
  devices_[device].add(bytes);
  arena_->unmapped.push_back(std::move(memory));
  return arena_->unmapped.back().get();
}

void DeviceMemory::free_unmapped(Allocation& memory) {
  devices_[memory.device].remove(memory.bytes);
  arena_->give_bytes(memory);
  memory.live = false;
}

Allocation* DeviceMemory::map(const Allocation& memory, std::uint64_t address) {
  auto view = std::make_unique<Allocation>(memory);
  view->address = address;
  view->of_virtual = true;
  auto& list = arena_->views;
  const auto after =
      std::upper_bound(list.begin(), list.end(), address,
                       [](std::uint64_t at, const auto& one) { return at < one->address; });
  return list.insert(after, std::move(view))->get();
}

Allocation* DeviceMemory::allocate_private(std::uint32_t bytes, ptx::Space space) {
  auto allocation = std::make_unique<Allocation>();
  allocation->data = private_arena_->pool.take(bytes);
  if (allocation->data == nullptr) throw std::bad_alloc();
  allocation->id = private_arena_->take_id();
  allocation->space = space;
  allocation->bytes = bytes;
  private_arena_->private_ones.push_back(std::move(allocation));
  return private_arena_->private_ones.back().get();
}

void DeviceMemory::release_private(Allocation* allocation) {
  auto& list = private_arena_->private_ones;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& one) { return one.get() == allocation; });
  if (found == list.end()) return;
  private_arena_->pool.give(allocation->data, allocation->bytes);
  private_arena_->give_id(allocation->id);
  list.erase(found);
}

Allocation* DeviceMemory::renew_private(Allocation* old, std::uint32_t bytes, ptx::Space space) {
  if (old != nullptr && old->bytes == bytes) {
    std::memset(old->data, static_cast<int>(kFreshByte), bytes);
    return old;
  }
  if (old != nullptr) release_private(old);
  return allocate_private(bytes, space);
}

void DeviceMemory::free(Allocation* allocation) {
  if (!allocation->live) return;
  allocation->live = false;
  if (allocation->on_heap()) {
    free_on_heap(*allocation);
  } else {
    devices_[allocation->device].remove(allocation->bytes);
    if (allocation->counted_in != nullptr) *allocation->counted_in -= allocation->bytes;
    for (Allocation& part : allocation->parts) part.live = false;
    if (allocation->is_mapped()) {
      --arena_->live_mapped;
      give_back_pages(*allocation);
    } else {
      // The addresses stay reserved, because programs allocate and free in loops.
      arena_->give_bytes(*allocation);
      allocation->data = nullptr;
    }
  }
}

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
  const auto& list = arena_->list_at(address, devices_.size());
  const auto after = std::upper_bound(
      list.begin(), list.end(), address,
      [](std::uint64_t at, const auto& allocation) { return at < allocation->address; });
  return after == list.begin() ? nullptr : std::prev(after)->get();
}

const Allocation* DeviceMemory::closest(std::uint64_t address) const {
  const Allocation* const below = nearest(address);
  // Just before a region, the first allocation of the region is above.
  const auto& list = arena_->list_at(address + kRedZone, devices_.size());
  const auto after = std::upper_bound(
      list.begin(), list.end(), address,
      [](std::uint64_t at, const auto& allocation) { return at < allocation->address; });
  if (after == list.end()) return below;
  const Allocation* const above = after->get();
  if (below == nullptr) return above;
  const std::uint64_t past = address - below->address;
  if (past < below->bytes) return below;
  return above->address - address < past - below->bytes ? above : below;
}

Allocation* DeviceMemory::find(std::uint64_t address) {
  auto* allocation = const_cast<Allocation*>(nearest(address));
  if (allocation == nullptr || !allocation->live) return nullptr;
  return address - allocation->address < allocation->bytes ? allocation : nullptr;
}

const Allocation* DeviceMemory::object_at(std::uint64_t address) {
  const Allocation* const found = find(address);
  if (found == nullptr || found->regions == nullptr) return found;
  const Regions::Window window = found->regions->at(address - found->address);
  if (!window.may_be_used()) return nullptr;
  return window.use == Regions::Use::region ? window.object : found;
}

std::vector<const Allocation*> DeviceMemory::live() const {
  std::vector<const Allocation*> result;
  for (const auto& list : arena_->global) {
    for (const auto& allocation : list) {
      if (allocation->live) result.push_back(allocation.get());
    }
  }
  for (const auto& memory : arena_->unmapped) {
    if (memory->live) result.push_back(memory.get());
  }
  for (const auto& allocation : arena_->mapped) {
    if (allocation->live) result.push_back(allocation.get());
  }
  for (const auto& allocation : arena_->heap) {
    if (allocation->live) result.push_back(allocation.get());
  }
  return result;
}

bool DeviceMemory::has_live() const {
  return std::ranges::any_of(
      devices_, [](const OfDevice& one) { return one.live != 0 || one.heap_used != 0; });
}

void DeviceMemory::reset() {
  arena_->drop_global(devices_.size());
  arena_->drop_heap();
  arena_->drop_mapped();
  heap_next_ = kHeapBase;
  shared_by_processes_ = false;
  std::ranges::fill(devices_, OfDevice{});
}

void clear_bytes(const Allocation& allocation, std::uint64_t offset, std::uint64_t bytes) {
  const bool has_pages = allocation.object().bytes > HostPages::kMappedMin &&
                         !allocation.is_mapped() && !allocation.on_heap();
  std::byte* const begin = allocation.data + offset;
  if (has_pages) {
    HostPages::fill_at(begin, bytes, std::byte{0});
  } else {
    std::memset(begin, 0, bytes);
  }
}

std::string describe(const Allocation& part, std::uint64_t offset, std::uint32_t bytes) {
  const Allocation& whole = part.object();
  offset = part.offset_in_object(offset);
  if (whole.regions != nullptr && offset < whole.bytes) {
    const Allocation* const object = whole.regions->at(offset).object;
    if (object != nullptr) {
      return describe(*object, whole.address + offset - object->address, bytes);
    }
  }
  const Allocation& allocation = whole;
  const Symbol* symbol = nullptr;
  for (const Symbol& candidate : allocation.symbols) {
    const bool holds = offset >= candidate.offset &&
                       (candidate.bytes == 0 || offset - candidate.offset < candidate.bytes);
    if (holds) symbol = &candidate;
  }
  const std::uint64_t start = symbol != nullptr ? symbol->offset : 0;
  const std::uint32_t width = std::max(bytes, 1u);
  const std::string element = (offset - start) % width == 0
                                  ? fmt::format("[{}]", (offset - start) / width)
                                  : fmt::format(" at byte {}", offset - start);
  if (symbol != nullptr) return symbol->name + element;
  if (!allocation.name.empty()) return allocation.name + element;
  return fmt::format("{} of {}{}{}", allocation.is_region ? "region" : "allocation",
                     counted(allocation.bytes, "byte"), element.starts_with("[") ? " " : "",
                     element);
}

}  // namespace warpcheck::vgpu
