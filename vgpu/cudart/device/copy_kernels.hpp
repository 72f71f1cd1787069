// The kernels that copies and fills of device code run as: the device runtime launches grids for
// them, so that they are ordered, and checked, as grids are.
#pragma once

namespace warpcheck::cudart {

inline constexpr const char* kCopyKernels = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry cudaMemcpyAsync(.param .u64 to, .param .u64 from, .param .u64 bytes) {
  .reg .b64 %rd<8>;
  .reg .b32 %r<4>;
  .reg .pred %p;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.u64 %rd3, [bytes];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  cvt.u64.u32 %rd4, %r1;
  cvt.u64.u32 %rd5, %r2;
NEXT:
  setp.ge.u64 %p, %rd4, %rd3;
  @%p ret;
  add.u64 %rd6, %rd2, %rd4;
  ld.u8 %r3, [%rd6];
  add.u64 %rd7, %rd1, %rd4;
  st.u8 [%rd7], %r3;
  add.u64 %rd4, %rd4, %rd5;
  bra NEXT;
}
.visible .entry cudaMemsetAsync(.param .u64 to, .param .u64 value, .param .u64 bytes) {
  .reg .b64 %rd<7>;
  .reg .b32 %r<4>;
  .reg .pred %p;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r3, [value];
  ld.param.u64 %rd3, [bytes];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  cvt.u64.u32 %rd4, %r1;
  cvt.u64.u32 %rd5, %r2;
NEXT:
  setp.ge.u64 %p, %rd4, %rd3;
  @%p ret;
  add.u64 %rd6, %rd1, %rd4;
  st.u8 [%rd6], %r3;
  add.u64 %rd4, %rd4, %rd5;
  bra NEXT;
}
)";

}  // namespace warpcheck::cudart
