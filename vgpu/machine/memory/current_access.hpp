// The access that is being made: what observers are told of it before its bytes move, and which
// bits of what it moves are undefined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class CurrentAccess {
 public:
  struct Elements {  // of a vector access, that one Access is about
    std::uint32_t first = 0, count = 1;
    std::uint32_t byte = 0;  // of a part of one element: where in its register it begins
  };

  explicit CurrentAccess(RunningLaunch& launch) : launch_(launch) {}

  // The accesses that follow are those of something asynchronous, until end_asynchronous().
  //   object: the mbarrier that counts it; null: a group of copies
  void begin_asynchronous(bool async_proxy = false, const Allocation* object = nullptr,
                          std::uint32_t object_offset = 0);
  void end_asynchronous();

  // Tells the observers about the access in access.offset, before the bytes move.
  //   written: the row that is stored; null: that of the instruction
  void announce(RunningFragment& run, const Instr& instr, const Target& target, Pattern pattern,
                std::uint32_t bytes, std::uint32_t mask, const Elements& elements,
                const std::byte* written = nullptr) {
    describe(run, instr, target, pattern, bytes, mask, elements, written);
    tell();
  }
  // The two halves of that.
  void describe(RunningFragment& run, const Instr& instr, const Target& target, Pattern pattern,
                std::uint32_t bytes, std::uint32_t mask, const Elements& elements,
                const std::byte* written = nullptr);
  void tell();
  // Makes `access` say what `row` does.  The caller has set what the instruction says of it, and
  // the offsets: kind, pattern, bytes and values.
  void describe_plain(const Instr& instr, const RowAccess& row) {
    access.allocation = row.allocation;
    access.program = launch_.program;
    access.place = row.place;
    access.pc = row.pc;
    access.mask = row.mask;
    access.space = row.space;
    access.order = ptx::Order::weak;
    access.scope = instr.modifiers.scope;
    access.undefined = 0;
    access.is_partial = false;
    access.origin = ptx::kNone;
    access.unwritten = 0;
  }
  // What is undefined of an element that has been read, to the register that it went to.
  void give_undefined(RunningFragment& run, const Instr& instr, const Ref& ref,
                      std::uint32_t element, std::uint32_t mask);

  [[nodiscard]] bool is_watched() const { return !launch_.observers.of_accesses.empty(); }

  Access access;  // kept, as it is too large to build anew each time

 private:
  void take_undefined(const RunningFragment& run, const Instr& instr, const Elements& elements,
                      std::uint32_t mask);
  UndefinedLanes take_undefined_of(const RunningFragment& run, const Ref& ref,
                                   std::uint32_t register_byte, std::uint32_t access_byte,
                                   std::uint32_t bytes, std::uint32_t mask);

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
