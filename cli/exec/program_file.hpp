// The file of a program that `exec` shall run: found as a shell finds it, and looked into, because
// a program that cannot be led to our runtime library would run past it without a word.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck {

// A program that cannot be run, or not on the virtual GPU.  what() says why and what to do.
class ProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ProgramFile {
  enum class Runtime : std::uint8_t {
    shared,   // needs libcudart.so
    ours,     // has our static library inside
    toolkit,  // has the toolkit's static library inside
    unknown,  // none of these: a script, or a program that may load the library later
  };
  std::string path;
  Runtime runtime = Runtime::unknown;
  std::string needed_library;  // "libcudart.so.13", of Runtime::shared
  // Why it cannot run: libraries it needs, itself or through its libraries, that the virtual GPU
  // cannot take the place of, and static runtimes that cannot be led to it.
  std::vector<std::string> unsupported;
  bool has_device_code = false;  // which is registered before main
};

// The file that `name` means: itself where it has a slash, else of $PATH.  Throws ProgramError when
// there is none, it cannot be executed, or it is neither an x86-64 ELF file nor a script.
[[nodiscard]] ProgramFile find_program(const std::string& name);

// Where libcudart.so.13, libcudart.so.12, libcudart_static.a and libwarpcheck_redirect.so are:
// lib/warpcheck beside this program (a build directory), or where they are installed, seen from the
// directory of it.  Throws ProgramError when they are in neither.
[[nodiscard]] std::string drop_in_directory();

}  // namespace warpcheck
