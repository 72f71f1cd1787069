// Records the runtime calls that host code makes on the virtual device, as data: enough to make the
// same calls in a separate program on a real device.
//
// Only calls that change memory or launch kernels are recorded.  Streams, events and queries are
// not, because every call completes before the next one.  Failed calls are recorded too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vgpu/program/dim3.hpp"

namespace warpcheck::cudart {

// An address in device memory, relative to the allocation that contains it.
struct DevicePlace {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::size_t allocation = kNone;  // number of its AllocateCall; kNone: in no allocation
  // bytes; in no allocation: the address itself, 0 for a null pointer
  std::int64_t offset = 0;
  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

// Bytes that the host passes to the device, and the places of device pointers in them.
struct HostBytes {
  struct Pointer {
    std::size_t at = 0;
    DevicePlace place;
  };
  std::vector<std::byte> bytes;
  std::vector<Pointer> pointers;  // ascending
};

// The source file of a kernel, as its build has registered it.
struct KernelSource {
  std::string path;        // absolute
  std::string root;        // searched for `#include "..."` after the file's own directory
  std::string options;     // of nvcc, beyond the usual ones: "-fmad=false"
  std::string includes{};  // further include directories, separated by ';'
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
  std::vector<std::byte> bytes;  // empty: the copy failed
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

  // Called by the device, with its own addresses.
  void allocate(std::uint64_t address, std::uint64_t bytes, std::string_view variable);
  void free(const void* pointer);
  void upload(const void* target, std::span<const std::byte> bytes);
  // Returns the record that receives the bytes when they are available.
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
  std::map<std::uint64_t, Known> allocations_;  // by address; addresses are unique within a trial
};

// The log in which the calls of a device are recorded, if there is one.
class CallRecording {
 public:
  // Returns nullptr if calls are not recorded.
  [[nodiscard]] CallLog* log() const { return log_; }
  // The caller keeps the ownership of the log; nullptr ends the recording.
  void set_log(CallLog* log) { log_ = log; }

 private:
  CallLog* log_ = nullptr;
};

// Records every call from now on in `log`; nullptr ends the recording.
void record_calls(CallLog* log);

}  // namespace warpcheck::cudart

// Registers the origin (KernelSource) of a text that was passed to
// warpcheck_register_unoptimized(): its file, root, options of nvcc, and further include
// directories.  All strings must live as long as the process.
extern "C" void warpcheck_register_source(const char* unoptimized_text, const char* path,
                                          const char* root, const char* options,
                                          const char* includes);
