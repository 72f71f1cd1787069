// Writes jumps at the starts of functions of a loaded file; their targets are set later.
//
// A jump of 5 bytes reaches 2 GiB, and libraries are further away.  So it leads to a page near the
// file, where each function has a stub that jumps through a slot of 8 bytes.  Until a slot is set,
// its stub calls the resolver, like a procedure linkage table (System V ABI, x86-64 supplement,
// "Procedure Linkage Table").
//
// An endbr64 at the start of a function is overwritten.  Linux does not enforce indirect branch
// tracking in user space (only shadow stacks, which jumps do not affect), so it is not needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "vgpu/cudart/redirect/static_runtime.hpp"

namespace warpcheck::cudart {

struct RedirectOutcome {
  // what the system did not allow, "mprotect: Permission denied"; empty: success
  std::string failure;
  bool is_broken = false;  // the file's code cannot be executed any more
};

// The redirected functions of one loaded file.  It lives as long as its stubs: until the process
// ends, because the last call of a stub is not known.
class RedirectedFile {
 public:
  // load_address: the difference between addresses in memory and in the file.
  RedirectedFile(StaticRuntime runtime, std::uintptr_t load_address)
      : runtime_(std::move(runtime)), load_address_(load_address) {}
  RedirectedFile(const RedirectedFile&) = delete;
  RedirectedFile& operator=(const RedirectedFile&) = delete;

  // Writes stubs and jumps. elf: the file that is loaded there.
  [[nodiscard]] RedirectOutcome write(const ElfFile& elf);

  [[nodiscard]] const StaticRuntime& runtime() const { return runtime_; }
  // Sets the target of function i for all future calls.
  void lead(std::size_t i, void* target) { std::atomic_ref(slots_[i]).store(target); }

 private:
  bool map_stubs(const ElfFile& elf);
  void fill_stubs();
  [[nodiscard]] RedirectOutcome write_jumps(const Elf64_Phdr& segment) const;

  StaticRuntime runtime_;
  std::uintptr_t load_address_ = 0;
  std::byte* stubs_ = nullptr;
  void** slots_ = nullptr;
};

// Returns the target for a stub without one, on the thread that called the function.  Defined by
// the library that these jumps are for.
extern "C" void* warpcheck_target_of(RedirectedFile* file, std::size_t function);

}  // namespace warpcheck::cudart
