// The kernels by which copies and fills of device code run.  The device runtime launches grids for
// them, so they are ordered and checked like grids.
#pragma once

#include <string>

namespace warpcheck::cudart {

// Returns a kernel in which each thread moves byte %rd4 of each round by `one_byte`, until `bytes`
// are done.
//   second: the name of the second parameter, which is in %rd2
inline std::string copy_kernel(const std::string& name, const std::string& second,
                               const std::string& one_byte) {
  return ".visible .entry " + name + "(.param .u64 to, .param .u64 " + second +
         ", .param .u64 bytes) {\n"
         "  .reg .b64 %rd<8>;\n"
         "  .reg .b32 %r<4>;\n"
         "  .reg .pred %p;\n"
         "  ld.param.u64 %rd1, [to];\n"
         "  ld.param.u64 %rd2, [" +
         second +
         "];\n"
         "  ld.param.u64 %rd3, [bytes];\n"
         "  mov.u32 %r1, %tid.x;\n"
         "  mov.u32 %r2, %ntid.x;\n"
         "  cvt.u64.u32 %rd4, %r1;\n"
         "  cvt.u64.u32 %rd5, %r2;\n"
         "NEXT:\n"
         "  setp.ge.u64 %p, %rd4, %rd3;\n"
         "  @%p ret;\n"
         "  add.u64 %rd7, %rd1, %rd4;\n" +
         one_byte +
         "  add.u64 %rd4, %rd4, %rd5;\n"
         "  bra NEXT;\n"
         "}\n";
}

inline std::string copy_kernels() {
  return ".version 7.5\n.target sm_75\n.address_size 64\n" +
         copy_kernel("cudaMemcpyAsync", "from",
                     "  add.u64 %rd6, %rd2, %rd4;\n"
                     "  ld.u8 %r3, [%rd6];\n"
                     "  st.u8 [%rd7], %r3;\n") +
         copy_kernel("cudaMemsetAsync", "value",
                     "  cvt.u32.u64 %r3, %rd2;\n"
                     "  st.u8 [%rd7], %r3;\n");
}

}  // namespace warpcheck::cudart
