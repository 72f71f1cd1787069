#include "vgpu/cudart/suspended/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// System V ABI, AMD64 supplement, 3.2.1: these registers, and the control words of the
// floating-point units, must be preserved for the caller.
//   warpcheck_switch_stacks(void** left, void* next): saves them on the current stack, stores its
//   pointer in *left, and continues where `next` was left. warpcheck_enter_stack: the first code on
//   a new stack; calls r12(rbx).
asm(R"(
  .text
  .p2align 4
  .hidden warpcheck_switch_stacks
  .globl warpcheck_switch_stacks
  .type warpcheck_switch_stacks, @function
warpcheck_switch_stacks:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  pushq %r15
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r15
  .cfi_adjust_cfa_offset -8
  popq %r14
  .cfi_adjust_cfa_offset -8
  popq %r13
  .cfi_adjust_cfa_offset -8
  popq %r12
  .cfi_adjust_cfa_offset -8
  popq %rbx
  .cfi_adjust_cfa_offset -8
  popq %rbp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size warpcheck_switch_stacks, .-warpcheck_switch_stacks

  .p2align 4
  .hidden warpcheck_enter_stack
  .globl warpcheck_enter_stack
  .type warpcheck_enter_stack, @function
warpcheck_enter_stack:
  .cfi_startproc
  .cfi_undefined rip
  xorl %ebp, %ebp
  movq %rbx, %rdi
  call *%r12
  ud2
  .cfi_endproc
  .size warpcheck_enter_stack, .-warpcheck_enter_stack
)");

extern "C" {
void warpcheck_switch_stacks(void** left, void* next);
void warpcheck_enter_stack();
}

namespace warpcheck::cudart {
namespace {

// Memory is used only where the stack is touched.
constexpr std::size_t kStackBytes = std::size_t{4} << 20;
constexpr std::size_t kGuardBytes = 4096;

}  // namespace

Fiber::Fiber() {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  ::mprotect(stack, kGuardBytes, PROT_NONE);
  stack_ = static_cast<std::byte*>(stack);
}

Fiber::~Fiber() { ::munmap(stack_, kStackBytes); }

void Fiber::begin(std::function<void()> function) {
  function_ = std::move(function);
  has_ended_ = false;
  // The content of a stack after warpcheck_switch_stacks(): control words, r15 ... rbp, return
  // address.
  struct Left {
    std::uint32_t mxcsr = 0;
    std::uint16_t control_word = 0, unused = 0;
    void *r15 = nullptr, *r14 = nullptr, *r13 = nullptr, *r12 = nullptr, *rbx = nullptr,
         *rbp = nullptr, *returns_to = nullptr;
    void* end[2] = {};  // aligns the stack for the call of the function
  } left;
  asm("stmxcsr %0\n\tfnstcw %1" : "=m"(left.mxcsr), "=m"(left.control_word));
  left.r12 = reinterpret_cast<void*>(&Fiber::enter);
  left.rbx = this;
  left.returns_to = reinterpret_cast<void*>(&warpcheck_enter_stack);
  static_assert(sizeof left % 16 == 0);
  std::byte* const at = stack_ + kStackBytes - sizeof left;
  std::memcpy(at, &left, sizeof left);
  inside_ = at;
}

bool Fiber::resume() {
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, stack_, kStackBytes);
#endif
  warpcheck_switch_stacks(&outside_, inside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
  if (!has_ended_) return false;
  function_ = nullptr;
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return true;
}

// The function continues.
//   own: what the sanitizer has saved of its stack
void Fiber::has_come_in([[maybe_unused]] void* own) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, &outside_stack_, &outside_bytes_);
#endif
}

void Fiber::suspend() {
  void* own = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&own, outside_stack_, outside_bytes_);
#endif
  warpcheck_switch_stacks(&inside_, outside_);
  has_come_in(own);
}

void Fiber::enter(Fiber* fiber) {
  fiber->has_come_in(nullptr);
  try {
    fiber->function_();
  } catch (...) {
    fiber->thrown_ = std::current_exception();
  }
  fiber->has_ended_ = true;
  fiber->suspend();
  __builtin_unreachable();
}

}  // namespace warpcheck::cudart
