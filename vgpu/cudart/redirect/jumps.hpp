// Jumps at the starts of functions of a loaded file, to functions that are known later.
//
// A jump of 5 bytes reaches 2 GiB, and a library lies further away.  So it leads to a page near the
// file, where each function has a stub that jumps on through a slot of 8 bytes.  Until a slot is
// set, its stub asks the resolver, as a procedure linkage table does (System V ABI, x86-64
// supplement, "Procedure Linkage Table").
//
// endbr64, with which a function may start, is overwritten.  Linux does not enforce indirect branch
// tracking in user space (only shadow stacks, which jumps leave alone), so nobody looks for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/redirect/static_runtime.hpp"

namespace warpcheck::cudart {

struct RedirectOutcome {
  std::string failure;  // what the system did not allow, "mprotect: Permission denied"; empty: done
  bool is_broken = false;  // the file's code cannot be executed any more
};

// The functions of one loaded file.  Lives as long as its stubs: until the process ends, as nobody
// knows who calls them last.
class RedirectedFile {
 public:
  // load_address: what is added to the file's own addresses.
  RedirectedFile(StaticRuntime runtime, std::uintptr_t load_address)
      : runtime_(std::move(runtime)), load_address_(load_address) {}
  RedirectedFile(const RedirectedFile&) = delete;
  RedirectedFile& operator=(const RedirectedFile&) = delete;

  // Writes stubs and jumps.  elf: what is loaded there.
  [[nodiscard]] RedirectOutcome write(const ElfFile& elf);

  [[nodiscard]] const StaticRuntime& runtime() const { return runtime_; }
  // From now on calls of function i go there.
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

// What a stub without a target asks, on the thread that called the function: where to go on.
// Defined by the library that these jumps are for.
extern "C" void* warpcheck_target_of(RedirectedFile* file, std::size_t function);

}  // namespace warpcheck::cudart
