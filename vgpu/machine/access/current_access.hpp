// The access that is being executed: the Access that observers receive before its bytes move, and
// the undefined bits of the values that it moves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class CurrentAccess {
 public:
  struct Elements {  // elements of a vector access that one Access describes
    std::uint32_t first = 0, count = 1;
    std::uint32_t byte = 0;  // for a part of an element: its first byte in the register
  };

  explicit CurrentAccess(RunningLaunch& launch) : launch_(launch) {}

  // Marks the following accesses as asynchronous, until end_asynchronous().
  //   object: the mbarrier that counts them; null: a group of copies
  void begin_asynchronous(bool async_proxy = false, const Allocation* object = nullptr,
                          std::uint32_t object_offset = 0);
  void end_asynchronous();

  // Reports the access in access.offset to the observers, before the bytes move.
  //   written: the row to store; null: the instruction's own row
  void announce(RunningFragment& run, const Instr& instr, const Target& target, Pattern pattern,
                std::uint32_t bytes, std::uint32_t mask, const Elements& elements,
                const std::byte* written = nullptr) {
    describe(run, instr, target, pattern, bytes, mask, elements, written);
    tell();
  }
  // The two steps of announce().
  void describe(RunningFragment& run, const Instr& instr, const Target& target, Pattern pattern,
                std::uint32_t bytes, std::uint32_t mask, const Elements& elements,
                const std::byte* written = nullptr);
  void tell();
  // Copies `row` to `access`.  The caller has set what depends on the instruction and the offsets:
  // kind, pattern, bytes and values.
  void describe_plain(const Instr& instr, const RowAccess& row) {
    access.allocation = row.allocation;
    access.program = launch_.program;
    access.place = row.place;
    access.pc = row.pc;
    access.registers = nullptr;
    access.mask = row.mask;
    access.space = row.space;
    access.order = ptx::Order::weak;
    access.scope = instr.modifiers.scope;
    access.undefined = 0;
    access.is_partial = false;
    access.origin = ptx::kNone;
    access.of_values = {};
    access.unwritten = 0;
    access.guessed = access.unequal = 0;
  }
  // Marks the undefined bits of an element that has been read in its destination register.
  void give_undefined(RunningFragment& run, const Instr& instr, const Ref& ref,
                      std::uint32_t element, std::uint32_t mask);

  // Returns the lanes of a compare-and-swap whose expected value has undefined bits that they have
  // read where they swap; 0 for any other instruction.
  [[nodiscard]] std::uint32_t guessed_lanes(const RunningFragment& run, const Instr& instr,
                                            std::uint32_t mask) const;

  [[nodiscard]] bool is_watched() const { return !launch_.observers.of_accesses.empty(); }

  Access access;  // a member, because it is too large to build for each access

 private:
  void take_undefined(const RunningFragment& run, const Instr& instr, const Elements& elements,
                      std::uint32_t mask);
  UndefinedLanes take_undefined_of(const RunningFragment& run, const Ref& ref,
                                   std::uint32_t register_byte, std::uint32_t access_byte,
                                   std::uint32_t bytes, std::uint32_t mask);

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
