// Common parts of the libraries that wrap the toolkit's compilers.
//
// When a program searches for a toolkit compiler, the audit library (vgpu/cudart/redirect)
// substitutes the wrapper, and writes the path of the toolkit's library to warpcheck_compiler_path
// before any code of the wrapper runs.
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

// Returns nullptr if the toolkit's library has no function of this name.
void* function_of_the_toolkits(const char* name);

template <class Function>
Function* toolkits(Function*, const char* name) {
  return reinterpret_cast<Function*>(function_of_the_toolkits(name));
}

#define TOOLKITS(name) toolkits(&name, #name)

// The module images that replace the compiled code of a compiler's programs.
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
  // Returns false if there is no image, or no place for its size.
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

// Returns the image for PTX from a compiler, whose text may end with null bytes.
std::string image_of_ptx(std::string text);

}  // namespace warpcheck::cudart

// A function that is forwarded to the toolkit is a jump: all of them take up to six integers or
// pointers.
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
