// What a source file's host code asks of the device: calls of the runtime and launches, with their
// arguments.  A call in a macro's argument, `CHECK(cudaMalloc(&p, n))`, counts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fix/rewrites/insertion.hpp"

namespace warpcheck {

struct HostCall {
  struct Argument {
    std::size_t begin = 0, end = 0;  // bytes of the file, without blanks around it
    std::string text;
  };
  Place place;
  std::string name;  // "cudaMemcpyAsync"; of a launch, the kernel's
  bool is_launch = false;
  std::vector<Argument> arguments;  // of a launch: those between <<< and >>>
  std::size_t end = 0;              // of the launch's >>>, or behind the last argument

  [[nodiscard]] std::string_view argument(std::size_t index) const {
    return index < arguments.size() ? std::string_view(arguments[index].text) : std::string_view();
  }
};

std::size_t function_of(const HostCall& call);

// In the order of the text.
std::vector<HostCall> host_calls(const std::string& file, const SourceTree& tree);

// The stream whose work the call adds to; "0": the default one.  Empty: it adds none, or the stream
// is not known.
std::string stream_of(const HostCall& call);

// Of a call that is about memory: which of its arguments are pointers, a size in bytes and the
// direction; kNone: it has none.
struct MemoryArguments {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t target = kNone, source = kNone, bytes = kNone, direction = kNone;
  bool allocates = false;  // the target is the address of a pointer
};
MemoryArguments memory_arguments(std::string_view name);

bool frees_memory(std::string_view name);

}  // namespace warpcheck
