// The API call that the current thread is executing, with its raw arguments; reports of failed
// calls use it.
//
// Every entry point (entry_points.cpp) stores its name, the argument registers and the return
// address before it continues to the virtual device.  They are read only if a call fails, by the
// types of its parameters, as the calling convention passes them (System V ABI, AMD64 supplement,
// 3.2.3).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpcheck::cudart {

class KnownAddresses;

// entry_points.cpp depends on the layout.
struct ApiCall {
  const char* name = nullptr;            // "cudaMalloc"; null: no call yet
  const void* return_address = nullptr;  // in the program
  const std::uint64_t* stack = nullptr;  // at the entry: the return address, then arguments
  std::array<std::uint64_t, 6> registers{};
};

}  // namespace warpcheck::cudart

extern "C" {
[[gnu::tls_model(
    "initial-exec")]] extern thread_local constinit warpcheck::cudart::ApiCall warpcheck_api_call;
}

namespace warpcheck::cudart {

// Returns whether it is a call of the driver API, e.g. cuMemAlloc.
inline bool is_driver_call(const ApiCall& call) {
  const char* const name = call.name;
  return name != nullptr && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

// Returns the name of this thread's call as findings show it, without the suffixes of versions and
// of per-thread default streams: "cuMemcpyHtoD" for cuMemcpyHtoD_v2_ptds.  The name lives as long
// as the process.
std::string_view reported_name();
std::string_view without_suffixes(std::string_view function);
// Returns the same for an operation of a runtime function, which driver functions call as well.
std::string_view reported_name(std::string_view runtime_function);

// The current call of this thread.  When a host function has returned, the outer call is current
// again.
inline ApiCall& current_call() { return warpcheck_api_call; }

// Returns "cudaMalloc(&pointer, 8589934592)", or only the name if the parameters are not known.
// Host addresses are left out, because they differ from run to run.
std::string describe(const ApiCall& call, const KnownAddresses& known);

}  // namespace warpcheck::cudart
