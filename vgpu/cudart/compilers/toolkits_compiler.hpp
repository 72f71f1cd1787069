// What a library in front of one of the toolkit's compilers is made of.
//
// The audit library (vgpu/cudart/redirect) puts it in the toolkit's place as a program looks for
// that, and writes where that is into warpcheck_compiler_path before any code of this runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#ifndef __x86_64__
#error "The jumps to the toolkit's functions are written for x86-64."
#endif

namespace warpcheck::cudart {

// nullptr: the toolkit's has no function of this name.
void* function_of_the_toolkits(const char* name);

template <class Function>
Function* toolkits(Function*, const char* name) {
  return reinterpret_cast<Function*>(function_of_the_toolkits(name));
}

#define TOOLKITS(name) toolkits(&name, #name)

// The module images that stand for what programs of a compiler were compiled to.
template <class Program>
class Images {
 public:
  void set(Program program, std::string image) {
    const std::lock_guard lock(mutex_);
    images_[program] = std::move(image);
  }
  void forget(Program program) {
    const std::lock_guard lock(mutex_);
    images_.erase(program);
  }
  // False: there is none, or nowhere to put it.
  bool give_size(Program program, std::size_t* bytes) {
    return bytes != nullptr && with(program, [&](const auto& image) { *bytes = image.size(); });
  }
  bool give(Program program, char* copy) {
    return copy != nullptr &&
           with(program, [&](const auto& image) { std::ranges::copy(image, copy); });
  }

 private:
  template <class Use>
  bool with(Program program, Use&& use) {
    const std::lock_guard lock(mutex_);
    const auto found = images_.find(program);
    if (found == images_.end()) return false;
    use(found->second);
    return true;
  }

  std::mutex mutex_;
  std::map<Program, std::string> images_;
};

// The image of PTX as a compiler gives it, which may end with null bytes.
std::string image_of_ptx(std::string text);

}  // namespace warpcheck::cudart

// A function that is the toolkit's alone is a jump: all take up to six integers or pointers.
#define FORWARDED(name)                       \
  asm(".pushsection .text\n"                  \
      ".globl " #name                         \
      "\n"                                    \
      ".type " #name ", @function\n" #name    \
      ":\n"                                   \
      "endbr64\n"                             \
      "pushq %rdi\npushq %rsi\npushq %rdx\n"  \
      "pushq %rcx\npushq %r8\npushq %r9\n"    \
      "subq $8, %rsp\n"                       \
      "leaq 1f(%rip), %rdi\n"                 \
      "call warpcheck_compiler_function\n"    \
      "addq $8, %rsp\n"                       \
      "popq %r9\npopq %r8\npopq %rcx\n"       \
      "popq %rdx\npopq %rsi\npopq %rdi\n"     \
      "jmp *%rax\n"                           \
      ".size " #name ", . - " #name           \
      "\n.popsection\n.pushsection .rodata\n" \
      "1: .asciz \"" #name "\"\n.popsection\n");
