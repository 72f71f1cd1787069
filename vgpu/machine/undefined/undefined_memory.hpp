// The plane of undefined bits beside memory, as undefined.hpp is the one beside registers: which
// bits of memory are undefined, and where they come from.
//
// Every access goes through it (CurrentAccess): a load or an atomic operation receives the
// undefined bits of what it finds, and a store leaves those of its values.  What counts as
// undefined is up to the source of the marks: bytes that nothing has written
// (unwritten_memory.hpp), values that a proof follows, or words that a look-ahead ignores.  An
// observer that needs a plane names it (Watched::undefined_memory); without one, nothing is
// tracked.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

struct Access;
struct Allocation;
struct Program;
struct RowAccess;
struct WarpPlace;

// What is known about defined bytes in the shared memory of the running block, for machine code.
struct NotedStates {
  const Allocation* settled = nullptr;  // all bytes of this allocation are defined
  // For this allocation, `states` has one byte for each byte, whose highest bit means "defined".  A
  // row that loads an undefined byte is reported; a row that is stored writes `stored` to each
  // byte's state, or `stored_apart` if its lanes are at distances that differ.  Rows of any other
  // allocation are reported.
  const Allocation* unsettled = nullptr;
  std::uint8_t* states = nullptr;
  std::uint8_t stored = 0, stored_apart = 0;
};

class UndefinedMemory {
 public:
  virtual ~UndefinedMemory() = default;
  // A load or an atomic operation is about to be executed.  Sets Access::undefined and the members
  // that depend on it to what it finds.  On entry, those of an atomic operation are of its
  // operands, which it leaves in memory.
  virtual void read(Access& access) = 0;
  // A store is about to be executed; Access::undefined and the others are of its values.
  virtual void write(const Access& access) = 0;
  // An instruction has found words of tensor memory that nothing has written, and what it makes of
  // them is undefined.
  virtual void read_tensor_memory(const Program& /*program*/, std::uint32_t /*pc*/,
                                  const WarpPlace& /*place*/, std::uint32_t /*lanes*/) {}
  // Does the same as read() or write() for a row whose registers are defined.  False: nothing was
  // done, because the row may find undefined bits, or for another reason; read() or write() must be
  // called.
  virtual bool passes(const RowAccess& /*row*/) { return false; }
  // Returns whether no byte of the allocation can be undefined before the next store to it.
  [[nodiscard]] virtual bool is_defined(const Allocation&) { return false; }
  // Returns the states that machine code reads and writes itself; null: every row is reported.
  [[nodiscard]] virtual const NotedStates* noted_states() const { return nullptr; }
};

}  // namespace warpcheck::vgpu
