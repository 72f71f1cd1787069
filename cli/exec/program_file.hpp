// The file of a program for `exec`: found as a shell finds it, and examined, because a program that
// cannot be redirected to our runtime library would run without any check.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck {

// A program cannot be run, or not on the virtual GPU.  what() says why and what to do.
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
  // Why it cannot run: libraries that it needs, directly or through its libraries, and that the
  // virtual GPU does not replace; and static runtimes that cannot be redirected.
  std::vector<std::string> unsupported;
  bool has_device_code = false;  // which is registered before main
};

// The file of the name: the path itself if it has a slash, else from $PATH.  Throws ProgramError if
// there is none, it is not executable, or it is neither an x86-64 ELF file nor a script.
[[nodiscard]] ProgramFile find_program(const std::string& name);

// Throws ProgramError if the program cannot run on the virtual GPU.
void require_our_runtime(const ProgramFile& program);

// The directory of libcudart.so.13, libcudart.so.12, libcudart_static.a and
// libwarpcheck_redirect.so: lib/warpcheck next to this program (in a build directory), or the
// installed one, relative to this program.  Throws ProgramError if they are in neither.
[[nodiscard]] std::string drop_in_directory();

}  // namespace warpcheck
