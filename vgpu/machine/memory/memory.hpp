// Device memory: a virtual arena of allocations.
//
// Device addresses are made here, from nothing but the order of the calls, so that the same case
// sees the same addresses on every machine; they are never host pointers.  Allocations are
// separated by a red zone, so a small overrun always misses every allocation.
// They lie below anything that the host maps, so no host pointer is taken for one.
// No address is given out twice before reset(), so a use of freed memory is always seen as one.
// Generic addresses (PTX ISA 5.1, 6.4.1): shared memory, local memory and the parameters of a
// kernel appear in windows of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint64_t kGlobalBase = 0x0f00'0000'0000;
inline constexpr std::uint64_t kConstantBase = 0x0e00'0000'0000;
inline constexpr std::uint64_t kSharedWindow = 0x0d00'0000'0000;  // + offset in the block's shared
inline constexpr std::uint64_t kLocalWindow = 0x0c00'0000'0000;   // + offset in the lane's local
inline constexpr std::uint64_t kParamWindow = 0x0900'0000'0000;   // + offset in the parameters
inline constexpr std::uint64_t kHeapBase = 0x0b00'0000'0000;      // of malloc() in device code
inline constexpr std::uint64_t kHeapEnd = kLocalWindow;
inline constexpr std::uint64_t kWindowBytes = 1u << 24;
// Shared memory of the blocks of a cluster (.shared::cluster): offset + kWindowBytes * (rank + 1),
// in the window or by itself.  Below kWindowBytes it is that of the executing block.
inline constexpr std::uint32_t kClusterBlocksMax = 16;
inline constexpr std::uint64_t kSharedWindows = kClusterBlocksMax + 1;
// Shared memory of the block that is no program's own, but reserved (cooperative groups at compute
// capability 8.0: 288 bytes), is in a window behind those, so that an overrun does not reach it.
inline constexpr std::uint64_t kReservedSharedOffset = kSharedWindows * kWindowBytes;
inline constexpr std::uint32_t kReservedSharedBytes = 512;

// Memory that host and device share, at one address for both: far from what the host maps for
// itself, and in what AddressSanitizer leaves to programs.  Whoever wants to see what the host does
// there takes the pages at that address away from it; Allocation::data is another view of the same
// bytes then (set_two_views), which stays.
inline constexpr std::uint64_t kMappedBase = 0x2000'0000'0000;

// Addresses that a program reserves, and maps memory at (cuMemMap): behind all devices' own.
inline constexpr std::uint64_t kVirtualBase = 0x1f00'0000'0000;
inline constexpr std::uint64_t kVirtualEnd = kMappedBase;

// Of several devices, each has ranges of its own: the first begins at the bases.
inline constexpr unsigned kDevicesMax = 16;
inline constexpr std::uint64_t kDeviceGlobalBytes = 0x100'0000'0000;
inline constexpr std::uint64_t kDeviceConstantBytes = 0x10'0000'0000;

inline constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 30;  // unless the host asks
// Of the parts of larger allocations; a power of two.
inline constexpr std::uint64_t kPartBytes = std::uint64_t{2} << 30;

// What memory that host and device share holds before anything is written.
enum class Fresh : std::uint8_t { zeros, pattern };

inline constexpr std::uint64_t kHeapAlignment = 16;
inline constexpr std::uint64_t kHeapBytes = 8u << 20;  // the device heap, unless the host asks

// Host bytes beyond both ends of an allocation (and of every shadow of one), so that a whole row
// of 32 lanes of up to 16 bytes can be read or written around any lane that is inside.
inline constexpr std::size_t kRowSlack = kWarpLanes * 16;

// One thread's execution of an instruction, told so that it outlives its launch.
struct CodePlace {
  const Program* program = nullptr;  // null: none (what the host did)
  std::uint32_t pc = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
};

// Bytes between allocations of device memory, answered by none; of mapped ones, before and behind.
inline constexpr std::uint64_t kRedZone = 4096;

class ProcessLock;

// One object in device memory: a cudaMalloc, a module variable, a malloc() of device code, the
// shared memory of a resident block, or the local memory of a resident warp.  `id` is dense and
// unique while it lives: checkers index their shadows by it.
//
// Offsets of accesses have 32 bits, so a large allocation has parts, side by side, each of which is
// an allocation to the machine and to the checkers: what is accessed is a part, and what programs
// allocate, free, and read of in messages is the object.
struct Allocation {
  std::uint32_t id = 0;
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;  // device address (global, constant); 0 for shared and local
  std::uint64_t bytes = 0;
  bool live = true;
  bool read_only = false;
  bool managed = false;      // the host uses it, too, by the same address
  bool reserved = false;     // shared memory that only the toolkit's headers know
  bool page_locked = false;  // host memory that kernels may use; managed ones are not
  std::uint8_t device = 0;   // whose memory it is
  // Memory at an address that the program has mapped it at: no device has access of itself.
  bool of_virtual = false;
  // Of a pool: peer access does not count, but which devices (a bit each) the pool is open to.
  bool of_pool = false;
  std::uint16_t open_to = 0;
  // Of rows that are farther apart than they are long (cudaMallocPitch): both in bytes; else 0.
  std::uint32_t row_bytes = 0, pitch = 0;
  std::string name;             // variable name, or "" for an anonymous allocation
  std::vector<Symbol> symbols;  // shared: what lies where
  std::byte* data = nullptr;    // host bytes; kRowSlack readable and writable around it
  // Other processes have the bytes, too: atomic operations hold this.  Null: nobody else has.
  ProcessLock* shared_by = nullptr;
  CodePlace allocated_at, freed_at;   // by device code
  std::vector<Allocation> parts;      // empty: it has none
  const Allocation* whole = nullptr;  // of a part
  std::uint64_t part_bytes = kPartBytes;

  // What it is a part of, or itself.
  [[nodiscard]] const Allocation& object() const { return whole == nullptr ? *this : *whole; }
  [[nodiscard]] std::uint64_t offset_in_object(std::uint64_t offset) const {
    return offset + (whole == nullptr ? 0 : address - whole->address);
  }
  // The part that has the byte, or itself.
  [[nodiscard]] Allocation* part_at(std::uint64_t offset) {
    return parts.empty() ? this : &parts[offset / part_bytes];
  }
  [[nodiscard]] const Allocation* part_at(std::uint64_t offset) const {
    return const_cast<Allocation*>(this)->part_at(offset);
  }
  // The same, with where the byte is in it.
  struct PartPlace {
    const Allocation* part = nullptr;
    std::uint32_t offset = 0;
  };
  [[nodiscard]] PartPlace place_at(std::uint64_t offset) const {
    return {part_at(offset),
            static_cast<std::uint32_t>(parts.empty() ? offset : offset % part_bytes)};
  }
  // Calls visit(part, offset in it, bytes) for a range, ascending.
  template <typename Visit>
  void for_each_part(std::uint64_t offset, std::uint64_t size, Visit visit) const {
    for (const std::uint64_t end = offset + size; offset < end;) {
      const PartPlace place = place_at(offset);
      const std::uint64_t count = std::min(end - offset, place.part->bytes - place.offset);
      visit(*place.part, place.offset, static_cast<std::uint32_t>(count));
      offset += count;
    }
  }
  // Calls visit(part) for each, or for itself.
  template <typename Visit>
  void for_each_part(Visit visit) const {
    if (parts.empty()) return visit(*this);
    for (const Allocation& part : parts) visit(part);
  }
  // Of one without parts.
  [[nodiscard]] std::uint32_t limit() const { return static_cast<std::uint32_t>(bytes); }

  [[nodiscard]] bool on_heap() const { return address >= kHeapBase && address < kHeapEnd; }
  // Memory that host and devices share.
  [[nodiscard]] bool is_shared_with_host() const { return address >= kMappedBase || page_locked; }
  // peers: a bit for each device whose memory `user` may use
  [[nodiscard]] bool is_open_to(unsigned user, std::uint32_t peers) const {
    if (of_virtual) return (open_to >> user & 1) != 0;
    if (device == user || is_shared_with_host()) return true;
    return ((of_pool ? open_to >> user : peers >> device) & 1) != 0;
  }
  // Somebody else may change it while a kernel runs.
  [[nodiscard]] bool changes_by_itself() const { return is_mapped() || shared_by != nullptr; }
  // The host reads and writes it at `address`.
  [[nodiscard]] bool is_mapped() const { return address >= kMappedBase; }
  // Its pages at `address` may be taken away: `data` leads to the same bytes elsewhere.
  [[nodiscard]] bool has_two_views() const {
    return is_mapped() && reinterpret_cast<std::uint64_t>(data) != address;
  }
  [[nodiscard]] bool contains(std::uint64_t at, std::uint64_t size) const {
    return at >= address && at - address <= bytes && size <= bytes - (at - address);
  }
};

// "s[31]", "allocation of 128 bytes [12]": the element of `bytes` size at `offset`.
std::string describe(const Allocation& allocation, std::uint64_t offset, std::uint32_t bytes);

// Makes bytes of an allocation 0.  Where they are many, the host's pages are given back.
void clear_bytes(const Allocation& allocation, std::uint64_t offset, std::uint64_t bytes);

class DeviceMemory {
 public:
  DeviceMemory();
  // The same memory for one of several machines that run a launch together: it allocates shared and
  // local memory of its own, whose ids begin at first_id, and nothing else.
  DeviceMemory(const DeviceMemory& whole, std::uint32_t first_id);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Returns nullptr when `bytes` is over what is left of the device's capacity_bytes(), or the host
  // has no room for it.  It costs no memory before it is written.
  Allocation* allocate(std::uint64_t bytes, ptx::Space space = ptx::Space::global,
                       std::string_view name = {}, unsigned device = 0);
  // Memory whose bytes the host reads and writes at the address of the allocation (managed and
  // page-locked memory).  nullptr: the host cannot map that address, or there is no memory left.
  Allocation* allocate_mapped(std::uint64_t bytes, unsigned device = 0);
  // Memory without an address; nullptr as of allocate().
  Allocation* allocate_unmapped(std::uint64_t bytes, unsigned device);
  // Its bytes and what is known of them are gone, for each address where they are.
  void free_unmapped(Allocation& memory);
  // The same memory, by its id, at an address from kVirtualBase on, where nothing is mapped.
  Allocation* map(const Allocation& memory, std::uint64_t address);

  // Storage outside the arena, for shared and local memory: no address, not found by find().
  Allocation* allocate_private(std::uint32_t bytes, ptx::Space space);
  void release_private(Allocation* allocation);
  // Storage as allocate_private() gives it, in the place of `old`, which may be null and is not to
  // be used any more.  What was in it is gone: what a program finds in memory that it has not
  // written must not depend on what ran before.
  Allocation* renew_private(Allocation* old, std::uint32_t bytes, ptx::Space space);
  // Marks it freed; its address range is not given out again before reset().  Of heap memory,
  // bytes and id may be reused from now on, and only the most recent ones are remembered, at
  // least kFreedMin of them: older ones are outside every allocation.
  void free(Allocation* allocation);

  // A device's heap (CUDA Programming Guide, "Dynamic Global Memory Allocation and Operations"):
  // aligned to kHeapAlignment, undefined bytes; nullptr when the live ones would take more than
  // heap_capacity, each rounded up to the alignment and no less than that.
  Allocation* allocate_on_heap(std::uint64_t bytes, unsigned device = 0);
  void set_heap_capacity(std::uint64_t bytes, unsigned device = 0) {
    devices_[device].heap_capacity = bytes;
  }

  // The live allocation, with all its parts, that holds `address`; or nullptr.
  [[nodiscard]] Allocation* find(std::uint64_t address);
  // The nearest allocation at or below, live or freed, for messages; may be nullptr.
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;
  // Of it and the one behind it, that whose bytes are closer to an address outside of both.
  [[nodiscard]] const Allocation* closest(std::uint64_t address) const;
  // All that is live: global memory, what has no address of its own, what is mapped, then the heap;
  // each by ascending address.
  [[nodiscard]] std::vector<const Allocation*> live() const;

  // Forgets every allocation and starts again at the same addresses.  Host memory is kept for
  // reuse.
  void reset();

  // It was made so.
  [[nodiscard]] bool is_shared() const { return private_arena_ != arena_; }
  // No id that was given so far is as high.
  [[nodiscard]] std::uint32_t ids_end() const;

  // Whether there is memory that the host can write.
  [[nodiscard]] bool has_mapped() const;
  // Of it, the live variables of the program.
  [[nodiscard]] std::vector<const Allocation*> mapped_variables() const;
  // Gives the allocation other bytes, which the caller keeps until reset(), with slack at both
  // ends; what was in it is not brought along.
  void move(Allocation& allocation, std::byte* data, ProcessLock* shared_by);
  // Whether there is memory that other processes can write.
  [[nodiscard]] bool is_shared_by_processes() const { return shared_by_processes_; }

  // Of each device; to be set while nothing is allocated.
  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_; }
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  void set_fresh_mapped(Fresh fresh) { fresh_mapped_ = fresh; }
  // Of memory that is mapped from now on.
  void set_two_views(bool two) { two_views_ = two; }
  // Of allocations from now on: how large their parts are.
  void set_part_bytes(std::uint64_t bytes) { part_bytes_ = bytes; }
  [[nodiscard]] std::uint64_t used_bytes(unsigned device = 0) const {
    return devices_[device].used;
  }
  // How many there are; to be set while nothing is allocated.
  void set_devices(unsigned devices) { devices_.resize(devices); }

 private:
  static constexpr std::size_t kFreedMin = 1 << 15;
  struct Arena;
  struct OfDevice {
    std::uint64_t used = 0, heap_capacity = kHeapBytes, heap_used = 0;
  };
  void free_on_heap(Allocation& allocation);
  [[nodiscard]] bool has_room_for(std::uint64_t bytes, unsigned device) const;
  void make_parts(Allocation& whole);
  // Where the global memory of a device ends.
  [[nodiscard]] std::uint64_t global_end(unsigned device) const;

  std::shared_ptr<Arena> arena_;
  std::shared_ptr<Arena> private_arena_;  // of shared and local memory
  std::vector<OfDevice> devices_{1};
  std::uint64_t capacity_ = kMemoryBytes;
  Fresh fresh_mapped_ = Fresh::pattern;
  bool two_views_ = false;
  std::uint64_t part_bytes_ = kPartBytes;
  bool shared_by_processes_ = false;
  std::uint64_t heap_next_ = kHeapBase;
};

}  // namespace warpcheck::vgpu
