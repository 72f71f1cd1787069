// The toolkit's static CUDA runtime inside a program or a shared library: which of its functions
// are where, and whether they can be led to the virtual GPU.
//
// All that is known of it is what the file's symbol table (.symtab) says: the names of the public
// API, their addresses and sizes.  What stands at the addresses is nobody's business here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/cudart/redirect/elf_file.hpp"

namespace warpcheck::cudart {

struct RuntimeFunction {
  std::string name;
  std::uint64_t address = 0;  // as the file has it
  // What may be overwritten from there: the function, and behind a short one the padding up to the
  // next address that is a multiple of 16 or has a symbol.
  std::uint64_t room_bytes = 0;
};

struct StaticRuntime {
  bool is_inside = false;
  bool is_stripped = false;                // its device code tells of it, but no symbol
  unsigned release = 0;                    // 13 or 12; 11: that or an older one
  std::vector<RuntimeFunction> functions;  // in the order of their addresses, each address once
};

// A jump to anywhere within 2 GiB: E9 and a displacement.
inline constexpr std::uint64_t kJumpBytes = 5;

// Not inside is a runtime that the file exports (a shared library of the runtime, or one that
// stands for it), and ours.
[[nodiscard]] StaticRuntime find_static_runtime(const ElfFile& elf);

// Why the runtime of a file cannot be led to the virtual GPU, and what to do, as said of "it";
// empty: it can.  libraries: the directory of libcudart_static.a.
[[nodiscard]] std::string why_not_led(const StaticRuntime& runtime, const std::string& libraries);

// The end of such a reason: how a program gets the virtual GPU in other ways.
[[nodiscard]] std::string other_ways(const std::string& libraries);

}  // namespace warpcheck::cudart
