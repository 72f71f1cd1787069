// Device memory: a virtual arena of allocations.
//
// Device addresses depend on nothing but the order of the calls, so the same case has the same
// addresses on every host.  They are never host pointers, and they are below all addresses that the
// host maps, so no host pointer equals one.  Allocations are separated by a red zone, so a small
// overrun always misses every allocation.  No address is reused before reset(), so every use of
// freed memory is detected.  Generic addresses (PTX ISA 5.1, 6.4.1): shared memory, local memory
// and kernel parameters have windows of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/dim3.hpp"
#include "vgpu/program/shared_windows.hpp"
#include "vgpu/program/symbol.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct Program;

inline constexpr std::uint64_t kGlobalBase = 0x0f00'0000'0000;
inline constexpr std::uint64_t kConstantBase = 0x0e00'0000'0000;
// + offset in the block's shared memory
inline constexpr std::uint64_t kSharedWindow = 0x0d00'0000'0000;
// + offset in the lane's local memory
inline constexpr std::uint64_t kLocalWindow = 0x0c00'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x0900'0000'0000;  // + offset in the parameters
inline constexpr std::uint64_t kHeapBase = 0x0b00'0000'0000;     // of device-side malloc()
inline constexpr std::uint64_t kHeapEnd = kLocalWindow;

// Memory that host and device share at one address: far from the host's own mappings, and in a
// range that AddressSanitizer leaves to programs.  To observe the host's accesses, the pages at
// that address can be protected; Allocation::data is then a second view of the same bytes
// (set_two_views), which stays accessible.
inline constexpr std::uint64_t kMappedBase = 0x2000'0000'0000;

// Addresses that a program reserves and maps memory at (cuMemMap): after the ranges of all devices.
inline constexpr std::uint64_t kVirtualBase = 0x1f00'0000'0000;
inline constexpr std::uint64_t kVirtualEnd = kMappedBase;

// Returns whether the address is in a range that only devices can access.
constexpr bool is_of_devices_alone(std::uint64_t address) {
  return address >= kHeapBase && address < kMappedBase;
}

// Each device has its own ranges; those of the first device begin at the bases.
inline constexpr unsigned kDevicesMax = 16;
inline constexpr std::uint64_t kDeviceGlobalBytes = 0x100'0000'0000;
inline constexpr std::uint64_t kDeviceConstantBytes = 0x10'0000'0000;

inline constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 30;  // unless the host asks
// Size of the parts of larger allocations; a power of two.
inline constexpr std::uint64_t kPartBytes = std::uint64_t{2} << 30;

// What memory shared by host and device contains before it is written.
enum class Fresh : std::uint8_t { zeros, pattern };

inline constexpr std::uint64_t kHeapAlignment = 16;
inline constexpr std::uint64_t kHeapBytes = 8u << 20;  // the device heap, unless the host asks

// Host bytes before and after each allocation (and each shadow of one), so that a whole row of 32
// lanes of up to 16 bytes can be read or written around any lane inside.
inline constexpr std::size_t kRowSlack = kWarpLanes * 16;

// One thread's execution of an instruction, in a form that remains valid after its launch.
struct CodePlace {
  const Program* program = nullptr;  // null: an action of the host
  std::uint32_t pc = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
};

// Bytes between allocations of device memory that belong to no allocation; for mapped memory,
// before and after it.
inline constexpr std::uint64_t kRedZone = 4096;

class ProcessLock;
class Regions;

// One object in device memory: a cudaMalloc, a module variable, a malloc() of device code, the
// shared memory of a resident block, or the local memory of a resident warp.  `id` is dense and
// unique while the allocation lives; checkers index their shadows by it.
//
// Offsets of accesses have 32 bits, so a large allocation consists of adjacent parts.  For the
// machine and the checkers, each part is an allocation.  Programs allocate and free the whole
// object, and messages name it.
struct Allocation {
  std::uint32_t id = 0;
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0;  // device address (global, constant); 0 for shared and local
  std::uint64_t bytes = 0;
  bool live = true;
  bool read_only = false;
  bool managed = false;   // the host uses it at the same address
  bool reserved = false;  // shared memory that only the toolkit's headers use
  // Host memory that kernels may use; not set for managed memory.  That of a pool is used like
  // managed memory, so both are set.
  bool page_locked = false;
  std::uint8_t device = 0;  // the device that owns it
  // Memory that the program has mapped at a reserved address: access must be granted to each
  // device.
  bool of_virtual = false;
  // Memory of a pool: access depends not on peer access but on the devices (one bit each) that the
  // pool is open to.
  bool of_pool = false;
  // Where the pool counts its bytes until it is freed; null: nowhere.
  std::uint64_t* counted_in = nullptr;
  std::uint16_t open_to = 0;
  // For pitched memory (cudaMallocPitch): the length and the distance of rows, in bytes; otherwise
  // 0.
  std::uint32_t row_bytes = 0, pitch = 0;
  std::string name;             // variable name, or "" for an anonymous allocation
  std::vector<Symbol> symbols;  // shared memory: the variables in it
  std::byte* data = nullptr;    // host bytes; kRowSlack readable and writable around it
  // Set if other processes map the bytes: atomic operations hold this lock.  Null: no other process
  // does.
  ProcessLock* shared_by = nullptr;
  CodePlace allocated_at, freed_at;   // by device code
  std::vector<Allocation> parts;      // empty: it has no parts
  const Allocation* whole = nullptr;  // set in a part
  std::uint64_t part_bytes = kPartBytes;
  // What the program has said of the regions in it (regions.hpp); null: nothing.
  std::shared_ptr<Regions> regions;
  // Set in a region, and in a pool inside a region: what it lies in, unless that is an allocation.
  const Allocation* pool = nullptr;
  bool is_region = false;  // a region or a pool that the program has described
  bool is_pool = false;    // a pool

  // Returns the object that it is a part of, or itself.
  [[nodiscard]] const Allocation& object() const { return whole == nullptr ? *this : *whole; }
  [[nodiscard]] std::uint64_t offset_in_object(std::uint64_t offset) const {
    return offset + (whole == nullptr ? 0 : address - whole->address);
  }
  // Returns the part that contains the byte, or itself.
  [[nodiscard]] Allocation* part_at(std::uint64_t offset) {
    return parts.empty() ? this : &parts[offset / part_bytes];
  }
  [[nodiscard]] const Allocation* part_at(std::uint64_t offset) const {
    return const_cast<Allocation*>(this)->part_at(offset);
  }
  // A part, and an offset in it.
  struct PartPlace {
    const Allocation* part = nullptr;
    std::uint32_t offset = 0;
  };
  [[nodiscard]] PartPlace place_at(std::uint64_t offset) const {
    return {part_at(offset),
            static_cast<std::uint32_t>(parts.empty() ? offset : offset % part_bytes)};
  }
  // Calls visit(part, offset in it, bytes) for each part of a range, in ascending order.
  template <typename Visit>
  void for_each_part(std::uint64_t offset, std::uint64_t size, Visit visit) const {
    for (const std::uint64_t end = offset + size; offset < end;) {
      const PartPlace place = place_at(offset);
      const std::uint64_t count = std::min(end - offset, place.part->bytes - place.offset);
      visit(*place.part, place.offset, static_cast<std::uint32_t>(count));
      offset += count;
    }
  }
  // Calls visit(part) for each part, or for the allocation itself if it has none.
  template <typename Visit>
  void for_each_part(Visit visit) const {
    if (parts.empty()) return visit(*this);
    for (const Allocation& part : parts) visit(part);
  }
  // Returns the size of an allocation without parts.
  [[nodiscard]] std::uint32_t limit() const { return static_cast<std::uint32_t>(bytes); }

  [[nodiscard]] bool on_heap() const { return address >= kHeapBase && address < kHeapEnd; }
  // Returns whether host and devices share the memory.
  [[nodiscard]] bool is_shared_with_host() const { return address >= kMappedBase || page_locked; }
  // peers: one bit for each device whose memory `user` may use.
  [[nodiscard]] bool is_open_to(unsigned user, std::uint32_t peers) const {
    if (of_virtual || (of_pool && page_locked)) return (open_to >> user & 1) != 0;
    if (device == user || is_shared_with_host()) return true;
    return ((of_pool ? open_to >> user : peers >> device) & 1) != 0;
  }
  // Returns whether the host or another process may change it while a kernel runs.
  [[nodiscard]] bool changes_by_itself() const { return is_mapped() || shared_by != nullptr; }
  // Returns whether the host reads and writes it at `address`.
  [[nodiscard]] bool is_mapped() const { return address >= kMappedBase; }
  // Returns whether its pages at `address` may be protected; `data` then refers to the same bytes
  // elsewhere.
  [[nodiscard]] bool has_two_views() const {
    return is_mapped() && reinterpret_cast<std::uint64_t>(data) != address;
  }
  [[nodiscard]] bool contains(std::uint64_t at, std::uint64_t size) const {
    return at >= address && at - address <= bytes && size <= bytes - (at - address);
  }
};

// Returns "s[31]" or "allocation of 128 bytes [12]": the element of `bytes` size at `offset`.
std::string describe(const Allocation& allocation, std::uint64_t offset, std::uint32_t bytes);

// Sets bytes of an allocation to 0.  Large ranges are returned to the host.
void clear_bytes(const Allocation& allocation, std::uint64_t offset, std::uint64_t bytes);

class DeviceMemory {
 public:
  DeviceMemory();
  // A view of the same memory for one of several machines that run a launch together.  It allocates
  // only shared and local memory, whose ids begin at first_id.
  DeviceMemory(const DeviceMemory& whole, std::uint32_t first_id);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Allocates memory.  Returns nullptr if `bytes` exceeds the rest of the device's
  // capacity_bytes(), or if the host has not enough memory.  Pages take host memory only when they
  // are written.
  Allocation* allocate(std::uint64_t bytes, ptx::Space space = ptx::Space::global,
                       std::string_view name = {}, unsigned device = 0);
  // Allocates memory that the host reads and writes at the allocation's address (managed and
  // page-locked memory). nullptr: the host cannot map that address, or no memory is left.
  //   name: of a program variable
  Allocation* allocate_mapped(std::uint64_t bytes, std::string_view name = {}, unsigned device = 0);
  // Allocates memory without an address; nullptr as in allocate().
  Allocation* allocate_unmapped(std::uint64_t bytes, unsigned device);
  // Frees it: its bytes, and their states, are gone at every address where it is mapped.
  void free_unmapped(Allocation& memory);
  // Maps the memory, by its id, at an address from kVirtualBase on where nothing is mapped yet.
  Allocation* map(const Allocation& memory, std::uint64_t address);

  // Allocates storage outside the arena, for shared and local memory: it has no address, and find()
  // does not find it.
  Allocation* allocate_private(std::uint32_t bytes, ptx::Space space);
  void release_private(Allocation* allocation);
  // Allocates as allocate_private() does, in place of `old`, which may be null and must not be used
  // afterwards.  The old content is gone: what a program finds in memory that it has not written
  // must not depend on what ran before.
  Allocation* renew_private(Allocation* old, std::uint32_t bytes, ptx::Space space);
  // Marks the allocation as freed; its address range is not reused before reset().  For heap
  // memory, bytes and id may be reused from now on, and only the latest freed allocations are
  // remembered, at least kFreedMin of them: addresses of older ones count as outside every
  // allocation.
  void free(Allocation* allocation);

  // Allocates on a device's heap (CUDA Programming Guide, "Dynamic Global Memory Allocation and
  // Operations"): aligned to kHeapAlignment, with undefined bytes.  Returns nullptr if the live
  // allocations would take more than heap_capacity.  Each counts with its size rounded up to the
  // alignment, and at least the alignment.
  Allocation* allocate_on_heap(std::uint64_t bytes, unsigned device = 0);
  void set_heap_capacity(std::uint64_t bytes, unsigned device = 0) {
    devices_[device].heap_capacity = bytes;
  }

  // Returns the live allocation, with all its parts, that contains `address`; nullptr: there is
  // none.
  [[nodiscard]] Allocation* find(std::uint64_t address);
  // Returns the live object that the address is in: a region if the program has described regions
  // there, otherwise the allocation; nullptr: there is none.
  [[nodiscard]] const Allocation* object_at(std::uint64_t address);
  // Returns the nearest allocation at or below the address, live or freed, for messages; may be
  // nullptr.
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;
  // Returns that allocation or the next one, whichever has bytes closer to an address outside both.
  [[nodiscard]] const Allocation* closest(std::uint64_t address) const;
  // Returns all live allocations: global memory, memory without an address, mapped memory, then the
  // heap; each by ascending address.
  [[nodiscard]] std::vector<const Allocation*> live() const;
  // Returns whether there are any, apart from further mappings of the same memory.
  [[nodiscard]] bool has_live() const;

  // Forgets every allocation, and starts again at the same addresses.  Host memory is kept for
  // reuse.
  void reset();

  // Returns whether this is a view for one of several machines.
  [[nodiscard]] bool is_shared() const { return private_arena_ != arena_; }
  // Returns a number above all ids given so far.
  [[nodiscard]] std::uint32_t ids_end() const;

  // Returns whether there is, or has been, memory that the host can write.
  [[nodiscard]] bool has_mapped() const;
  // Returns the end of the last such memory if some of it is live, otherwise 0.  No allocation has
  // a higher address.
  [[nodiscard]] std::uint64_t live_mapped_end() const;
  // Returns the live program variables in that memory.
  [[nodiscard]] std::vector<const Allocation*> mapped_variables() const;
  // Gives the allocation other bytes, which the caller keeps, with slack at both ends, until
  // reset().  The old content is not copied.
  void move(Allocation& allocation, std::byte* data, ProcessLock* shared_by);
  // Returns whether there is memory that other processes can write.
  [[nodiscard]] bool is_shared_by_processes() const { return shared_by_processes_; }

  // The capacity of each device; may be set only while nothing is allocated.
  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_; }
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  void set_fresh_mapped(Fresh fresh) { fresh_mapped_ = fresh; }
  // Applies to memory that is mapped from now on.
  void set_two_views(bool two) { two_views_ = two; }
  // The size of parts, for allocations from now on.
  void set_part_bytes(std::uint64_t bytes) { part_bytes_ = bytes; }
  [[nodiscard]] std::uint64_t used_bytes(unsigned device = 0) const {
    return devices_[device].used;
  }
  // The number of devices; may be set only while nothing is allocated.
  void set_devices(unsigned devices) { devices_.resize(devices); }

 private:
  static constexpr std::size_t kFreedMin = 1 << 15;
  struct Arena;
  struct OfDevice {
    std::uint64_t used = 0, heap_capacity = kHeapBytes, heap_used = 0;
    std::uint64_t live = 0;  // allocations that are not on the heap
    void add(std::uint64_t bytes) {
      used += bytes;
      ++live;
    }
    void remove(std::uint64_t bytes) {
      used -= bytes;
      --live;
    }
  };
  void free_on_heap(Allocation& allocation);
  [[nodiscard]] bool has_room_for(std::uint64_t bytes, unsigned device) const;
  void make_parts(Allocation& whole);
  // Returns the end of the global memory of a device.
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
