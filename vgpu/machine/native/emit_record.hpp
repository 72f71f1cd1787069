// The registers that code uses when it appends rows to the record of accesses
// (access_record.hpp).  Internal to vgpu/machine/native.
//
// r9: AccessRecord. rsi: the row that is being recorded. r10: the marks. rdi: the cell of lane 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/native/record_emitter.hpp"

namespace warpcheck::vgpu::native {

inline x86::Mem of_record(std::size_t offset) {
  return {x86::r9, static_cast<std::int32_t>(offset), 8};
}
// For rows of global memory, r9 is the RowQueue.
inline x86::Mem of_queue(std::size_t offset, std::uint32_t size = 8) {
  return {x86::r9, static_cast<std::int32_t>(offset), size};
}
inline x86::Mem of_states(std::size_t offset) {
  return {x86::rcx, static_cast<std::int32_t>(offset), 8};
}
inline x86::Mem of_row(std::size_t offset) {
  return {x86::rsi, static_cast<std::int32_t>(offset), 4};
}
// The mark of the cell in rdi, and the marks of 16 lanes from it on, in each half of a row.
inline x86::Mem mark() { return x86::ptr(x86::r10, x86::rdi, 1, 0, 2); }
inline x86::Mem marks(unsigned half) {
  return x86::ptr(x86::r10, x86::rdi, 1, static_cast<std::int32_t>(32 * half), 32);
}
inline constexpr std::array<unsigned, 2> kHalves = {0, 1};

}  // namespace warpcheck::vgpu::native
