// What variables and expressions need to know of a stopped thread: the registers of one of its
// frames, memory, and where it stands.
//
// The debugger implements this interface for the threads of a session, and tests implement it with
// a few maps.  This folder knows nothing else of sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::debug {

// The value of a register.
struct RegisterBits {
  std::uint64_t bits = 0;
  std::uint64_t unwritten = 0;      // bits that the thread has not written
  ptx::Type type = ptx::Type::b64;  // as the text declares the register
};

struct MemoryBytes {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> unwritten;  // beside bytes: the bits of each that are unwritten
};

// An address in a state space.  In Space::generic it is a generic address, as pointers hold it; in
// local memory it counts from the beginning of the thread's stack, in shared memory from that of
// the block's, in Space::param from the kernel's first parameter.
struct Address {
  ptx::Space space = ptx::Space::generic;
  std::uint64_t offset = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

// Where the frame stands: its next instruction, or the call that it waits for.
struct CodePosition {
  std::string function;        // mangled
  std::uint32_t ptx_line = 0;  // of the instruction, in the PTX text of its module
};

// Memory that cannot be read.  what() names the address and why: "global 0x10 is not allocated".
class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ThreadView {
 public:
  virtual ~ThreadView() = default;

  [[nodiscard]] virtual CodePosition position() const = 0;
  // name: as in the text, "%r5".  Nothing: the function has no such register.  A predicate is one
  // bit.
  [[nodiscard]] virtual std::optional<RegisterBits> register_bits(std::string_view name) const = 0;
  // The value of %tid.x and the like; nothing: not known.
  [[nodiscard]] virtual std::optional<std::uint64_t> special(
      ptx::SpecialRegister special) const = 0;
  // Throws Unreadable if the thread may not read all of these bytes.
  [[nodiscard]] virtual MemoryBytes memory(Address address, std::size_t bytes) const = 0;
  // The address of a symbol of the text, by its mangled name: of a variable of the module or of the
  // block, of a kernel's parameter, of the frame's local array (`__local_depot3`).  Nothing: there
  // is no such symbol, or it is not in memory.
  [[nodiscard]] virtual std::optional<Address> symbol(std::string_view name) const = 0;
  // The space and the offset of a generic address; Space::generic: it belongs to none.
  [[nodiscard]] virtual Address resolve(std::uint64_t generic) const = 0;
  // The function that a pointer to functions names, as C++ writes it; empty: it names none.
  [[nodiscard]] virtual std::string function_at(std::uint64_t address) const = 0;
};

}  // namespace warpcheck::debug
