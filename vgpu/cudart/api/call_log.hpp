// The runtime calls that host code makes on the virtual device, as data: enough to make the same
// calls again in a program of its own, on a real device.
//
// Only what changes memory or launches is recorded; streams, events and queries are not, as every
// call is done before the next.  Calls that fail are recorded like the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// An address in device memory, told by the allocation that it belongs to.
struct DevicePlace {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::size_t allocation = kNone;  // number of its AllocateCall; kNone: of none
  std::int64_t offset = 0;         // bytes; of none: the address itself, 0 for a null pointer
  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

// Bytes that the host hands to the device, and which of them are device pointers.
struct HostBytes {
  struct Pointer {
    std::size_t at = 0;
    DevicePlace place;
  };
  std::vector<std::byte> bytes;
  std::vector<Pointer> pointers;  // ascending
};

// The file that a kernel is compiled from, as its build told us.
struct KernelSource {
  std::string path;        // absolute
  std::string root;        // what `#include "..."` is searched in, beside the file's own directory
  std::string options;     // of nvcc, beyond the usual ones: "-fmad=false"
  std::string includes{};  // further directories that headers are searched in, ';' between them
  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

struct AllocateCall {
  std::size_t allocation = 0;  // numbered from 0 in order of the calls
  std::uint64_t bytes = 0;
  std::string variable;  // mangled name of a module variable; empty: from cudaMalloc
};
struct FreeCall {
  DevicePlace place;
};
struct UploadCall {
  DevicePlace target;
  HostBytes data;
};
struct DownloadCall {
  DevicePlace source;
  std::uint64_t size = 0;
  std::vector<std::byte> bytes;  // empty: it failed
};
struct MoveCall {
  DevicePlace target, source;
  std::uint64_t size = 0;
};
struct FillCall {
  DevicePlace target;
  int value = 0;
  std::uint64_t size = 0;
};
struct LaunchCall {
  std::string kernel;   // mangled
  KernelSource source;  // empty path: not known
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<HostBytes> arguments;
};
using Call =
    std::variant<AllocateCall, FreeCall, UploadCall, DownloadCall, MoveCall, FillCall, LaunchCall>;

class CallLog {
 public:
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }

  // What the device tells; addresses are its own.
  void allocate(std::uint64_t address, std::uint64_t bytes, std::string_view variable);
  void free(const void* pointer);
  void upload(const void* target, std::span<const std::byte> bytes);
  // Returns where the bytes are to be put once they are there.
  DownloadCall& download(const void* source, std::uint64_t size);
  void move(const void* target, const void* source, std::uint64_t size);
  void fill(const void* target, int value, std::uint64_t size);
  void launch(LaunchCall call) { calls_.emplace_back(std::move(call)); }

  [[nodiscard]] HostBytes host_bytes(std::span<const std::byte> bytes) const;

 private:
  struct Known {
    std::size_t number;
    std::uint64_t bytes;
  };
  [[nodiscard]] DevicePlace place_of(std::uint64_t address, std::uint64_t overrun_max) const;
  [[nodiscard]] DevicePlace place_of(const void* pointer) const;

  std::vector<Call> calls_;
  std::map<std::uint64_t, Known> allocations_;  // by address; none is given out twice in a trial
};

// Where the calls of a device are recorded.
class CallRecording {
 public:
  // nullptr: nowhere.
  [[nodiscard]] CallLog* log() const { return log_; }
  // Not owned.
  void set_log(CallLog* log) { log_ = log; }

 private:
  CallLog* log_ = nullptr;
};

// Every call from now on is written to `log`, until nullptr is given.
void record_calls(CallLog* log);

}  // namespace warpcheck::cudart

// Tells of which file, below which root, with which options of nvcc and with headers of which
// further directories (KernelSource) a text that was given to warpcheck_register_unoptimized() was
// made.  All must live as long as the process.
extern "C" void warpcheck_register_source(const char* unoptimized_text, const char* path,
                                          const char* root, const char* options,
                                          const char* includes);
