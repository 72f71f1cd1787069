// The access that is being executed: the Access that observers receive before its bytes move, and
// the undefined bits of the values that it moves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/access/product_read.hpp"
#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
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

  // Describes an access to `allocation` at access.offset.
  //   written: the row to store; null: the instruction's own row
  void describe(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                ptx::Space space, Pattern pattern, std::uint32_t bytes, std::uint32_t mask,
                const Elements& elements, const std::byte* written = nullptr);
  // Reports the described access to the observers, before its bytes move, and takes it through the
  // undefined bits of memory.
  void report() { report_from(0, nullptr); }
  // Reports an access of registers without undefined bits as a row, and to observers that need more
  // as an Access.  Returns false if loaded bits are undefined, or else need to be marked.
  [[gnu::always_inline]] bool report(RunningFragment& run, const Instr& instr, const RowAccess& row,
                                     const Elements& elements) {
    const std::vector<Observer*>& observers = launch_.observers().of_accesses;
    std::size_t first = 0;
    while (first < observers.size() && observers[first]->takes_row(row)) ++first;
    if (first == observers.size()) [[likely]] {
      UndefinedMemory* const memory = launch_.observers().undefined_memory;
      if (memory == nullptr || memory->passes(row)) [[likely]] {
        for (Observer* const observer : launch_.observers().of_rows) {
          observer->on_rows(launch_.program(), {&row, 1});
        }
        return true;
      }
    }
    return report_whole(run, instr, row, elements, first);
  }
  // Reports the reads of a product.  False: nothing was done, and they must be executed one by one.
  [[nodiscard]] bool report(const ProductRead& read);
  // Marks the undefined bits of an element that has been read in its destination register.
  void give_undefined(RunningFragment& run, const Instr& instr, const Ref& ref,
                      std::uint32_t element, std::uint32_t mask);

  // Returns the lanes of a compare-and-swap whose expected value has undefined bits that they have
  // read where they swap; 0 for any other instruction.
  [[nodiscard]] std::uint32_t guessed_lanes(const RunningFragment& run, const Instr& instr,
                                            std::uint32_t mask) const;

  [[nodiscard]] bool is_watched() const { return launch_.observers().watch_accesses(); }

  Access access;  // a member, because it is too large to build for each access

 private:
  bool report_whole(RunningFragment& run, const Instr& instr, const RowAccess& row,
                    const Elements& elements, std::size_t first);
  void report_from(std::size_t first, const RowAccess* row);
  void close_queues() const;
  void take_undefined(const RunningFragment& run, const Instr& instr, const Elements& elements,
                      std::uint32_t mask);
  UndefinedLanes take_undefined_of(const RunningFragment& run, const Ref& ref,
                                   std::uint32_t register_byte, std::uint32_t access_byte,
                                   std::uint32_t bytes, std::uint32_t mask);

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
