#include "vgpu/differential/reference/reference_atomics.hpp"

#include <algorithm>
#include <stdexcept>

namespace warpcheck::vgpu {

using ptx::AtomOp;

std::uint64_t reference_atomic(const ptx::Modifiers& m, std::uint64_t old, std::uint64_t b,
                               std::uint64_t c) {
  // Float atomics differ between the spaces; they are compared only with a GPU.
  if (ptx::is_float(m.type)) throw std::logic_error("atomics of floats");
  const unsigned unused = 64 - 8 * ptx::bytes_of(m.type);
  b = b << unused >> unused;
  c = c << unused >> unused;
  const bool less = ptx::is_signed(m.type) ? static_cast<std::int64_t>(old << unused) <
                                                 static_cast<std::int64_t>(b << unused)
                                           : old < b;
  switch (m.atom_op) {
    case AtomOp::add: return old + b;
    case AtomOp::min: return less ? old : b;
    case AtomOp::max: return less ? b : old;
    case AtomOp::and_: return old & b;
    case AtomOp::or_: return old | b;
    case AtomOp::xor_: return old ^ b;
    case AtomOp::exch: return b;
    case AtomOp::cas: return old == b ? c : old;
    case AtomOp::inc: return old >= b ? 0 : old + 1;
    case AtomOp::dec: return old == 0 || old > b ? b : old - 1;
    default: throw std::logic_error("an atomic");
  }
}

}  // namespace warpcheck::vgpu
