// The regions of an allocation that the program hands out by itself, as it describes them (NVTX).
//
// A region is a view of the allocation's bytes, as a mapping of virtual memory is one: it has an
// address, a size and a name of its own, and the id of the allocation.  The machine restricts
// accesses to the region that their address is in.  Checkers know bytes by their allocation, so
// what they know outlives a region: two regions that get the same bytes one after the other race
// if nothing orders their users.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

class Regions {
 public:
  enum class Use : std::uint8_t {
    plain,   // of the allocation itself; a region there has a name, and no ends
    unused,  // of a pool, and in no region; `object` is the pool
    region,  // of a region
    gone,    // of a region, or a whole pool, that has ended
  };
  using Object = std::shared_ptr<const Allocation>;

  explicit Regions(const Allocation& allocation)
      : begin_(allocation.address), extents_{{0, {allocation.bytes, Use::plain, nullptr}}} {}

  // Sets what the bytes are.  Offsets are those in the allocation.
  void set(std::uint64_t begin, std::uint64_t end, Use use, Object object);
  // The bytes of an object, or of objects inside it, become something else.
  void replace(const Allocation& object, Use use, const Object& by);

  // The bytes around an offset that are accessed as one object.
  struct Window {
    std::uint64_t begin = 0, end = 0;
    Use use = Use::plain;
    const Allocation* object = nullptr;  // null: the allocation
    [[nodiscard]] bool may_be_used() const { return use == Use::plain || use == Use::region; }
  };
  [[nodiscard]] Window at(std::uint64_t offset) const;
  // Returns whether the bytes are in one object that may be used.
  [[nodiscard]] bool has(std::uint64_t offset, std::uint64_t bytes) const {
    const Window window = at(offset);
    return window.may_be_used() && bytes <= window.end - offset;
  }
  // Returns the region, live or gone, whose end or beginning is closest to an offset in no region;
  // nullptr: there is none.
  [[nodiscard]] const Allocation* closest(std::uint64_t offset) const;

 private:
  struct Extent {
    std::uint64_t end = 0;
    Use use = Use::plain;
    Object object;
  };
  using Extents = std::map<std::uint64_t, Extent>;  // by their beginnings; without gaps
  void split(std::uint64_t at);
  void join(std::uint64_t begin, std::uint64_t end);

  std::uint64_t begin_;  // address of the allocation
  Extents extents_;
};

// Returns the object that gives an allocation as a whole its name; itself: it has no such name.
inline const Allocation& named_object(const Allocation& allocation) {
  if (allocation.regions == nullptr) return allocation;
  const Allocation* const object = allocation.regions->at(0).object;
  const bool is_of_whole = object != nullptr && object->address == allocation.address &&
                           object->bytes == allocation.bytes && !object->name.empty();
  return is_of_whole ? *object : allocation;
}

}  // namespace warpcheck::vgpu
