// Emits the recording of rows of words that lanes store to shared memory in any order: tiles with
// padding, what a sort scatters.
#include <cstddef>

#include "vgpu/machine/native/emit_record.hpp"

namespace warpcheck::vgpu::native {

// Emits the subroutine.  ecx: the pc; on return, eax says whether the row is recorded.  If lanes
// meet in a word, their marks stay, but such a row ends the record anyway.
void RecordEmitter::record_stored_lanes() {
  const auto of_offsets = [](std::uint32_t byte, std::uint32_t size) {
    return x86::ptr(x86::rdi, static_cast<std::int32_t>(byte), size);
  };
  const asmjit::Label reported = a.newLabel(), known = a.newLabel(), others = a.newLabel(),
                      row = a.newLabel(), defined = a.newLabel();
  a.bind(record_stored_lanes_);
  find_place_of_lanes(reported);
  for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += 32) {
    a.vmovups(x86::ymm0, field(offsetof(NativeFrame, offsets) + byte, 32));
    a.vmovups(of_offsets(byte, 32), x86::ymm0);
  }
  a.test(x86::rcx, x86::rcx);
  a.jz(known);
  // Lanes at one distance leave another state.
  a.mov(x86::eax, of_offsets(0, 4));
  a.mov(x86::r8d, of_offsets(4, 4));
  a.sub(x86::r8d, x86::eax);
  a.jbe(known);
  a.imul(x86::r8d, x86::r8d, kWarpLanes - 1);
  a.add(x86::r8d, x86::eax);
  a.cmp(x86::r8d, of_offsets(4 * (kWarpLanes - 1), 4));
  a.je(reported);
  a.bind(known);
  a.push(x86::rcx);
  find_marks_of_lanes();
  record_lanes_alone(true, others, row);
  a.bind(others);
  a.pop(x86::rcx);
  a.bind(reported);
  a.xor_(x86::eax, x86::eax);
  a.ret();
  a.bind(row);
  a.pop(x86::rcx);
  a.test(x86::rcx, x86::rcx);
  a.jz(defined);
  a.mov(x86::r8d, field(offsetof(NativeFrame, stored_apart), 4));
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    a.mov(x86::eax, of_offsets(4 * lane, 4));
    a.mov(x86::ptr(x86::rcx, x86::rax, 0, 0, 4), x86::r8d);
  }
  a.bind(defined);
  put_scattered_row(2, true);
  a.mov(x86::eax, 1);
  a.ret();
}

}  // namespace warpcheck::vgpu::native
