#include "vgpu/check/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/machine/memory/regions/regions.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

// Local memory is interleaved: one allocation holds the local memory of a whole warp, but an
// address is relative to one lane's part.
std::uint64_t bytes_of(const Allocation& allocation) {
  return allocation.space == ptx::Space::local ? allocation.bytes / kWarpLanes : allocation.bytes;
}

// Returns "a (256 bytes)", or "a region of 256 bytes" if it has no name.
std::string with_size(const std::string& name, bool is_region, std::uint64_t bytes) {
  const std::string size = counted(bytes, "byte");
  if (!name.empty()) return fmt::format("{} ({})", name, size);
  return fmt::format("{} of {}", is_region ? "a region" : "an allocation", size);
}

std::string name_with_size(const Allocation& there) {
  const Allocation& allocation = named_object(there);
  if (allocation.name.empty() && !allocation.is_region) {
    const std::string size = counted(bytes_of(allocation), "byte");
    if (allocation.space == ptx::Space::shared) return fmt::format("shared memory ({})", size);
    if (allocation.space == ptx::Space::local) {
      return fmt::format("local memory ({} a thread)", size);
    }
  }
  return with_size(allocation.name, allocation.is_region, bytes_of(allocation));
}

// Returns how far `address` lies before `begin`; 0 if it does not.  In spaces whose addresses start
// at 0 (shared and local memory), an address before the beginning has wrapped around, in 32 or in
// 64 bits.
std::uint64_t distance_before(std::uint64_t address, std::uint64_t begin) {
  constexpr std::uint64_t kWrapped32 = 0x8000'0000, kEnd32 = 0x1'0000'0000;
  if (begin != 0) return address < begin ? begin - address : 0;
  if (address >= kWrapped32 && address < kEnd32) return kEnd32 - address;
  return address >> 63 != 0 ? 0 - address : 0;
}

// An address farther from an allocation than this is unrelated to it.
constexpr std::uint64_t kNearBytes = 1u << 20;

// Of an element of an array at null, with an index of either sign.
bool is_near_null(std::uint64_t address) {
  return address < kNearBytes || 0 - address <= kNearBytes;
}

bool is_near(const Allocation& allocation, std::uint64_t address) {
  if (distance_before(address, allocation.address) != 0) {
    return distance_before(address, allocation.address) <= kNearBytes;
  }
  return address - allocation.address <= bytes_of(allocation) + kNearBytes;
}

// A generic address does not name its space, so the space is that of the nearest memory.
ptx::Space space_of(const Fault& fault) {
  const bool near_constant = fault.nearest != nullptr &&
                             fault.nearest->space == ptx::Space::constant &&
                             is_near(*fault.nearest, fault.address);
  return near_constant ? ptx::Space::constant : fault.space;
}

// The object that the address was computed from: its name (empty: none), and where it lies.
struct MeantPlace {
  std::string name;
  std::uint64_t begin = 0, bytes = 0;
};

MeantPlace meant_place(const Fault& fault) {
  const Allocation& meant = *fault.meant;
  if (fault.symbol == nullptr) return {meant.name, meant.address, meant.bytes};
  const Symbol& symbol = *fault.symbol;
  const std::uint64_t end = std::max<std::uint64_t>(meant.bytes, symbol.offset);
  return {symbol.name, symbol.offset, symbol.bytes != 0 ? symbol.bytes : end - symbol.offset};
}

// Returns "4 bytes, 12 bytes past the end of a (256 bytes)".
std::string describe_meant(const Fault& fault) {
  const MeantPlace place = meant_place(fault);
  const std::string name = with_size(place.name, fault.meant->is_region, place.bytes);
  const std::uint64_t distance = fault.address - place.begin;
  const bool is_short = fault.symbol != nullptr && fault.address <= UINT32_MAX;  // 32-bit addresses
  const auto signed_distance =
      is_short ? static_cast<std::int32_t>(distance) : static_cast<std::int64_t>(distance);
  const std::string size = counted(fault.bytes, "byte");
  if (signed_distance < 0) {
    return fmt::format("{}, {} before {}", size,
                       counted(static_cast<std::uint64_t>(-signed_distance), "byte"), name);
  }
  if (distance >= place.bytes) {
    return fmt::format("{}, {} past the end of {}", size, counted(distance - place.bytes, "byte"),
                       name);
  }
  return fmt::format("{} at byte {} of {}", size, distance, name);
}

// The same of an address that was computed from the local variables of a function.
std::string describe_in_frame(const Fault& fault) {
  const FunctionCode& frame = *fault.frame;
  const std::string name =
      with_size(fmt::format("the local variables of {}", kernel_name(frame.name)), false,
                frame.variable_bytes);
  const std::string size = counted(fault.bytes, "byte");
  if (const std::uint64_t before = distance_before(fault.address, 0); before != 0) {
    return fmt::format("{}, {} before {}", size, counted(before + frame.local_begin, "byte"), name);
  }
  if (fault.address < frame.local_begin) {
    return fmt::format("{}, {} before {}", size, counted(frame.local_begin - fault.address, "byte"),
                       name);
  }
  const std::uint64_t at = fault.address - frame.local_begin;
  if (at < frame.variable_bytes) return fmt::format("{} at byte {} of {}", size, at, name);
  return fmt::format("{}, {} past the end of {}", size, counted(at - frame.variable_bytes, "byte"),
                     name);
}

std::string object_of(const Fault& fault) {
  if (fault.frame != nullptr) return describe_in_frame(fault);
  return is_stray(fault) ? describe_meant(fault)
                         : describe_place(fault.nearest, fault.address, fault.bytes);
}

// Returns the known cause of the bad pointer.
std::string cause_of(const Reporter& reporter, const Fault& fault) {
  const bool is_global = fault.space == ptx::Space::global || fault.space == ptx::Space::generic;
  if (reporter.causes() == nullptr || !is_global) return {};
  if (fault.kind == Fault::Kind::use_after_free && fault.nearest != nullptr) {
    return reporter.causes()->of_use_after_free(*fault.nearest);
  }
  const bool is_nothing = fault.kind == Fault::Kind::out_of_bounds &&
                          (is_near_null(fault.address) || is_nowhere(fault));
  return is_nothing ? reporter.causes()->of_pointer_to_nothing() : std::string();
}

}  // namespace

bool is_stray(const Fault& fault) {
  if (fault.kind != Fault::Kind::out_of_bounds || fault.meant == nullptr) return false;
  const Allocation* const there = fault.nearest;
  return there != nullptr && there->live && there->contains(fault.address, fault.bytes);
}

std::string message_of_stray(const Fault& fault) {
  const std::uint64_t offset = fault.address - fault.nearest->address;
  const std::string there = describe(*fault.nearest, offset, fault.bytes);
  const MeantPlace place = meant_place(fault);
  const std::string meant =
      place.name.empty() ? with_size({}, fault.meant->is_region, place.bytes) : place.name;
  return fmt::format("the address of (1) is made from {}, but is in {}{}", meant,
                     there.starts_with("allocation of ") ? "an "
                     : there.starts_with("region of ")   ? "a "
                                                         : "",
                     there);
}

bool is_nowhere(const Fault& fault) {
  if (is_near_null(fault.address)) return false;
  return fault.nearest == nullptr || !is_near(*fault.nearest, fault.address);
}

std::string describe_place(const Allocation* nearest, std::uint64_t address, std::uint64_t bytes) {
  const std::string size = counted(bytes, "byte");
  if (nearest == nullptr || !is_near(*nearest, address)) {
    if (address >= kFunctionBase && address < kFunctionEnd) {
      return fmt::format("{} at the address of a function", size);
    }
    return fmt::format("{} at address {:#x}", size, address);
  }
  const std::string name = name_with_size(*nearest);
  const std::uint64_t end = nearest->address + bytes_of(*nearest);
  if (const std::uint64_t before = distance_before(address, nearest->address); before != 0) {
    return fmt::format("{}, {} before {}", size, counted(before, "byte"), name);
  }
  if (address >= end) {
    return fmt::format("{}, {} past the end of {}", size, counted(address - end, "byte"), name);
  }
  return fmt::format("{} at byte {} of {}", size, address - nearest->address, name);
}

Reporter::Key key_of(const Fault& fault) {
  return {fault.program, fault.pc, ptx::kNone,
          static_cast<std::uint32_t>(fault.kind) << 8 | static_cast<std::uint32_t>(fault.access)};
}

void report_fault(Reporter& reporter, const Fault& fault, FindingKind kind, std::string message,
                  const FaultCause* cause) {
  Reporter::Key key = key_of(fault);
  if (cause != nullptr) key.pc2 = cause->place.pc;
  reporter.report(key, [&] {
    Finding finding;
    finding.kind = kind;
    if (fault.kind == Fault::Kind::not_generic) finding.severity = Severity::note;
    finding.space = space_name(space_of(fault));
    finding.kernel = kernel_name(fault.program->kernel);
    finding.object = object_of(fault);
    finding.accesses = {reporter.side(role_name(fault.access), *fault.program, fault.pc,
                                      thread_of(fault.place, fault.lane))};
    if (cause != nullptr) finding.accesses.push_back(side_at(cause->role, cause->place));
    finding.message = std::move(message);
    if (fault.kind == Fault::Kind::no_peer_access) finding.lack = Lack::peer_access;
    if (fault.kind == Fault::Kind::use_after_free && cause == nullptr) {
      add_free_by_host(finding, reporter.place_of_free(*fault.nearest),
                       fault.nearest->is_region ? "unregistered" : "freed");
    }
    finding.cause = cause_of(reporter, fault);
    return finding;
  });
}

}  // namespace warpcheck::vgpu
