// The toolkit's static CUDA runtime inside a program or a shared library: where its functions are,
// and whether they can be redirected to the virtual GPU.
//
// Only the file's symbol table (.symtab) is used: the names of the public API, their addresses and
// sizes.  The code at these addresses is not examined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/cudart/redirect/elf_file.hpp"

namespace warpcheck::cudart {

struct RuntimeFunction {
  std::string name;
  std::uint64_t address = 0;  // in the file
  // The bytes that may be overwritten from there on: the function and, for a short function, the
  // padding up to the next multiple of 16 or the next symbol.
  std::uint64_t room_bytes = 0;
};

struct StaticRuntime {
  bool is_inside = false;
  // its device code indicates the runtime, but there are no symbols
  bool is_stripped = false;
  unsigned release = 0;                    // 13 or 12; 11: that one or an older one
  std::vector<RuntimeFunction> functions;  // in the order of their addresses, each address once
};

// A jump to anywhere within 2 GiB: E9 and a displacement.
inline constexpr std::uint64_t kJumpBytes = 5;

// Finds the static runtime.  A runtime that the file exports (a shared runtime library, or a
// replacement of it) does not count, and neither does our own.
[[nodiscard]] StaticRuntime find_static_runtime(const ElfFile& elf);

// Returns why the runtime in a file cannot be redirected to the virtual GPU, and what to do, with
// "it" for the file; empty: it can. libraries: the directory of libcudart_static.a.
[[nodiscard]] std::string why_not_led(const StaticRuntime& runtime, const std::string& libraries);

// Returns the end of such a reason: other ways to run the program on the virtual GPU.
[[nodiscard]] std::string other_ways(const std::string& libraries);

}  // namespace warpcheck::cudart
