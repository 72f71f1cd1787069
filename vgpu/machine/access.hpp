// What threads access.
//
// The machine reports one Access per warp instruction and allocation, before the bytes move; rows
// that touch several allocations are split.  Other events are in events.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/memory/undefined.hpp"
#include "vgpu/machine/pattern.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

struct Program;

enum class AccessKind : std::uint8_t { read, write, atomic };

// The position of a warp in its launch, which identifies the thread of every lane.
struct WarpPlace {
  std::uint32_t block = 0;  // linear index in the grid
  std::uint32_t warp = 0;   // in the block; lane l is thread warp * 32 + l, linear
  std::uint32_t slot = 0;   // resident-block slot, dense and small
  std::uint32_t phase = 0;  // whole-block barriers completed by this block
};

struct Access {
  alignas(64) std::array<std::uint32_t, kWarpLanes> offset{};  // bytes from the allocation's start
  const Allocation* allocation = nullptr;
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;                  // active lanes, all inside the allocation and aligned
  ptx::Space space = ptx::Space::generic;  // of the allocation, never generic
  AccessKind kind = AccessKind::read;
  Pattern pattern = Pattern::scattered;  // of the offsets
  std::uint8_t bytes = 0;                // per lane: 1 2 4 8 16 (a vector access is one access)
  ptx::Order order = ptx::Order::weak;
  ptx::Scope scope = ptx::Scope::none;
  // The access is part of a cp.async: no thread's program order contains it.  It comes after what
  // the issuing lane did before; until the lane waits for it (CopyWait), it comes before nothing
  // that the lane does.
  bool asynchronous = false;
  // The access is asynchronous and uses the asynchronous proxy: writes by loads and stores reach it
  // only across a fence (cp.async.bulk; PTX ISA 8.4, proxies).
  bool async_proxy = false;
  // Asynchronous accesses: the mbarrier that signals the completion; null: a thread waits for the
  // copy itself.
  const Allocation* object = nullptr;
  std::uint32_t object_offset = 0;
  // Lanes of a compare-and-swap that will find another value, so they read and do not write.  Set
  // only if Program::synchronizes_threads.
  std::uint32_t unwritten = 0;
  // Lanes of a compare-and-swap whose expected value has undefined bits, which they have read at
  // the same place (UndefinedRegisters::is_guess()), and those of them that will find another
  // value.
  std::uint32_t guessed = 0, unequal = 0;
  // Weak memory (null: not used): the write that element e of lane l finds, at index l * 4 + e. 0:
  // the latest write; kNoStrongSource: none of the strong writes; otherwise 1 + the number of
  // strong writes of the location after the one that it finds.
  const std::uint8_t* sources = nullptr;
  static constexpr std::uint8_t kNoStrongSource = 255;
  // The registers of the fragment while observers are told; null for weak accesses that are told as
  // rows, and for those of atomics that are performed later.
  const LaneBanks* registers = nullptr;
  // The values to be stored: one row of lanes per vector element, with `value_bytes` (4 or 8) per
  // lane in the row, of which `element_bytes` are stored.  Null for reads and atomics.
  std::array<const std::byte*, 4> values{};
  std::uint8_t value_bytes = 0;
  std::uint8_t element_bytes = 0;
  // Undefined bits.  For a write: the lanes whose value is undefined.  For a read or atomic: the
  // lanes whose loaded value is undefined (UndefinedMemory).  `origin` is the pc of the load that
  // first read undefined bytes (kNone: none).
  std::uint32_t undefined = 0;
  std::uint32_t origin = ptx::kNone;
  ValueLanes of_values{};  // those of `undefined` whose undefined bits are a value
  // The undefined lanes of each element of a vector access; valid only if `undefined`, their union,
  // is not 0.
  std::array<UndefinedLanes, 4> of_element{};
  // Which bits of the values are undefined: those in the first 8 bytes of each lane's access, and
  // those in the other 8.  Valid for the lanes of `undefined`, if is_partial; otherwise all their
  // bits are undefined.
  bool is_partial = false;
  std::array<LaneBits, 2> undefined_bits{};

  [[nodiscard]] unsigned first_lane() const { return static_cast<unsigned>(__builtin_ctz(mask)); }
  // Returns the number of vector elements; 1 for a part of an element (local memory).
  [[nodiscard]] std::uint32_t elements() const {
    return bytes <= element_bytes ? 1 : bytes / std::uint32_t{element_bytes};
  }
  // Returns the undefined bits of up to 8 bytes from `byte` on, for a lane of `undefined`.  The
  // bytes must lie in one half of the access, and is_partial must be set.
  [[nodiscard]] std::uint64_t undefined_bits_at(std::uint32_t byte, std::uint32_t count,
                                                unsigned lane) const {
    return undefined_bits[byte / 8][lane] >> (8 * (byte % 8)) & ones_of(count);
  }
  [[nodiscard]] UndefinedLanes undefined_in(std::uint32_t element) const {
    return undefined == 0 || elements() == 1 ? UndefinedLanes{undefined, origin, of_values}
                                             : of_element[element];
  }
};

// The form of nearly all accesses: a weak load or store of one element or vector per lane, without
// undefined bits.  Observers that accept it receive it in place of an Access.
struct RowAccess {
  const Allocation* allocation = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  std::uint32_t first = 0;                 // offset of lane 0, active or not; unused if scattered
  ptx::Space space = ptx::Space::generic;  // this and the next members are as in Access
  AccessKind kind = AccessKind::read;
  Pattern pattern = Pattern::strided;
  std::uint8_t bytes = 0;
  std::uint8_t element_bytes = 0;
  // Scattered: the offset of each lane; an inactive lane has the offset of an active one.
  const std::uint32_t* offsets = nullptr;

  [[nodiscard]] std::uint32_t offset_of(unsigned lane) const {
    if (pattern == Pattern::scattered) return offsets[lane];
    return pattern == Pattern::strided ? first + lane * bytes : first;
  }
};

// Returns what an access of any kind accesses; scattered offsets are set for active lanes only.
inline RowAccess row_of(const Access& access) {
  const unsigned lane = access.first_lane();
  const std::uint32_t step = access.pattern == Pattern::strided ? access.bytes : 0;
  return {.allocation = access.allocation,
          .place = access.place,
          .pc = access.pc,
          .mask = access.mask,
          .first = access.offset[lane] - lane * step,
          .space = access.space,
          .kind = access.kind,
          .pattern = access.pattern,
          .bytes = access.bytes,
          .element_bytes = access.element_bytes,
          .offsets = access.offset.data()};
}

}  // namespace warpcheck::vgpu
