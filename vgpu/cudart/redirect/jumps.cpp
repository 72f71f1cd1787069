#include "vgpu/cudart/redirect/jumps.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

// Entered by a jump from a stub, which has pushed the function's number and the RedirectedFile.  It
// preserves all registers that can hold arguments (System V ABI, x86-64 supplement, "Parameter
// Passing").
asm(".pushsection .text\n"
    ".type warpcheck_resolve, @function\n"
    "warpcheck_resolve:\n"
    "  endbr64\n"
    "  push %rax\n"
    "  push %rcx\n"
    "  push %rdx\n"
    "  push %rsi\n"
    "  push %rdi\n"
    "  push %r8\n"
    "  push %r9\n"
    "  push %r10\n"
    "  sub $136, %rsp\n"
    "  movups %xmm0, (%rsp)\n"
    "  movups %xmm1, 16(%rsp)\n"
    "  movups %xmm2, 32(%rsp)\n"
    "  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n"
    "  movups %xmm5, 80(%rsp)\n"
    "  movups %xmm6, 96(%rsp)\n"
    "  movups %xmm7, 112(%rsp)\n"
    "  mov 200(%rsp), %rdi\n"
    "  mov 208(%rsp), %rsi\n"
    "  call warpcheck_target_of\n"
    "  mov %rax, %r11\n"
    "  movups (%rsp), %xmm0\n"
    "  movups 16(%rsp), %xmm1\n"
    "  movups 32(%rsp), %xmm2\n"
    "  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n"
    "  movups 80(%rsp), %xmm5\n"
    "  movups 96(%rsp), %xmm6\n"
    "  movups 112(%rsp), %xmm7\n"
    "  add $136, %rsp\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %rcx\n"
    "  pop %rax\n"
    "  add $16, %rsp\n"
    "  jmp *%r11\n"
    ".size warpcheck_resolve, . - warpcheck_resolve\n"
    ".popsection\n");

namespace warpcheck::cudart {
namespace {

extern "C" void warpcheck_resolve();

constexpr std::uintptr_t kReach = std::uintptr_t{1} << 31;
// Linux maps nothing below this address (vm.mmap_min_addr).
constexpr std::uintptr_t kLowest = 64 * 1024;
constexpr std::size_t kStubBytes = 16;

std::uintptr_t round_down(std::uintptr_t address, std::uintptr_t multiple) {
  return address / multiple * multiple;
}
std::uintptr_t round_up(std::uintptr_t address, std::uintptr_t multiple) {
  return round_down(address + multiple - 1, multiple);
}
std::uintptr_t page_bytes() { return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)); }

std::string failed(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

// Returns nullptr if the address is already in use.
std::byte* map_at(std::uintptr_t address, std::size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const mapped = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == wanted) return static_cast<std::byte*>(mapped);
  // Linux before 4.17 treats the address as a hint.
  if (mapped != MAP_FAILED) ::munmap(mapped, bytes);
  return nullptr;
}

// Maps pages that all of [begin, end) can reach by a jump; below it if possible, because the heap
// grows above a program.
std::byte* map_near(std::uintptr_t begin, std::uintptr_t end, std::size_t bytes) {
  const std::uintptr_t step = std::max<std::uintptr_t>(kLowest, round_up(bytes, page_bytes()));
  const std::uintptr_t lowest = end > kReach ? round_up(end - kReach, page_bytes()) : 0;
  const std::uintptr_t below = round_down(begin, page_bytes());
  for (std::uintptr_t at = below; at >= std::max(lowest, kLowest) + step;) {
    at -= step;
    if (std::byte* const mapped = map_at(at, bytes)) return mapped;
  }
  for (std::uintptr_t at = round_up(end, page_bytes()); at + bytes < begin + kReach; at += step) {
    if (std::byte* const mapped = map_at(at, bytes)) return mapped;
  }
  errno = ENOMEM;
  return nullptr;
}

// Writes machine code byte by byte.
class CodeWriter {
 public:
  explicit CodeWriter(std::byte* at) : at_(at) {}

  CodeWriter& bytes(std::initializer_list<int> values) {
    for (const int value : values) *at_++ = static_cast<std::byte>(value);
    return *this;
  }
  CodeWriter& word(std::uint32_t value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
    return *this;
  }
  // Writes the distance of `target` from the end of this displacement.
  CodeWriter& displacement(const void* target) {
    const auto distance = reinterpret_cast<std::intptr_t>(target) -
                          reinterpret_cast<std::intptr_t>(at_ + sizeof(std::int32_t));
    return word(static_cast<std::uint32_t>(static_cast<std::int32_t>(distance)));
  }

 private:
  std::byte* at_;
};

}  // namespace

// Maps stubs, plus one stub for their common part; after them, on separate pages, the slots, and
// the values that the common part pushes and jumps to.
bool RedirectedFile::map_stubs(const ElfFile& elf) {
  std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max(), end = 0;
  for (const Elf64_Phdr& segment : elf.segments(PT_LOAD)) {
    begin = std::min(begin, load_address_ + segment.p_vaddr);
    end = std::max(end, load_address_ + segment.p_vaddr + segment.p_memsz);
  }
  const std::size_t functions = runtime_.functions.size();
  const std::size_t code = round_up((functions + 1) * kStubBytes, page_bytes());
  const std::size_t data = round_up((functions + 2) * sizeof(void*), page_bytes());
  stubs_ = map_near(begin, end, code + data);
  if (stubs_ == nullptr) return false;
  slots_ = reinterpret_cast<void**>(stubs_ + code);
  fill_stubs();
  if (::mprotect(stubs_, code, PROT_READ | PROT_EXEC) == 0) return true;
  const int error = errno;
  ::munmap(stubs_, code + data);
  errno = error;
  return false;
}

void RedirectedFile::fill_stubs() {
  const std::size_t functions = runtime_.functions.size();
  std::byte* const shared = stubs_ + functions * kStubBytes;
  for (std::size_t i = 0; i < functions; ++i) {
    std::byte* const stub = stubs_ + i * kStubBytes;
    slots_[i] = stub + 6;
    CodeWriter(stub)
        .bytes({0xff, 0x25})  // jmp *slot(%rip)
        .displacement(slots_ + i)
        .bytes({0x68})  // push $i
        .word(static_cast<std::uint32_t>(i))
        .bytes({0xe9})  // jmp shared
        .displacement(shared);
  }
  slots_[functions] = this;
  slots_[functions + 1] = reinterpret_cast<void*>(warpcheck_resolve);
  CodeWriter(shared)
      .bytes({0xff, 0x35})  // push file(%rip)
      .displacement(slots_ + functions)
      .bytes({0xff, 0x25})  // jmp *resolve(%rip)
      .displacement(slots_ + functions + 1);
}

RedirectOutcome RedirectedFile::write_jumps(const Elf64_Phdr& segment) const {
  std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max(), end = 0;
  const auto is_in_it = [&](const RuntimeFunction& function) {
    return function.address >= segment.p_vaddr &&
           function.address - segment.p_vaddr < segment.p_filesz;
  };
  for (const RuntimeFunction& function : runtime_.functions) {
    if (!is_in_it(function)) continue;
    begin = std::min(begin, round_down(load_address_ + function.address, page_bytes()));
    end = std::max(end, round_up(load_address_ + function.address + kJumpBytes, page_bytes()));
  }
  if (end == 0) return {};
  const int allowed = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                      ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                      ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  void* const pages = reinterpret_cast<void*>(begin);
  if (::mprotect(pages, end - begin, PROT_READ | PROT_WRITE) != 0) {
    return {.failure = failed("mprotect")};
  }
  for (std::size_t i = 0; i < runtime_.functions.size(); ++i) {
    if (!is_in_it(runtime_.functions[i])) continue;
    CodeWriter(reinterpret_cast<std::byte*>(load_address_ + runtime_.functions[i].address))
        .bytes({0xe9})
        .displacement(stubs_ + i * kStubBytes);
  }
  if (::mprotect(pages, end - begin, allowed) == 0) return {};
  return {.failure = failed("mprotect"), .is_broken = true};
}

RedirectOutcome RedirectedFile::write(const ElfFile& elf) {
  for (const RuntimeFunction& function : runtime_.functions) {
    const std::string_view bytes = elf.bytes_at(function.address, kJumpBytes);
    const void* const loaded = reinterpret_cast<void*>(load_address_ + function.address);
    if (bytes.empty() || std::memcmp(loaded, bytes.data(), bytes.size()) != 0) {
      return {.failure = "the file is not the one that is loaded"};
    }
  }
  if (!map_stubs(elf)) return {.failure = failed(stubs_ == nullptr ? "mmap" : "mprotect")};
  RedirectOutcome outcome;
  for (const Elf64_Phdr& segment : elf.segments(PT_LOAD)) {
    if (outcome.failure.empty()) outcome = write_jumps(segment);
  }
  return outcome;
}

}  // namespace warpcheck::cudart
