// The call of the runtime API that the program's thread is in, as it came: what a failed one is
// told with.
//
// Every entry point (entry_points.cpp) notes its name, the registers of the arguments and the
// return address before it goes on to the virtual device.  They are read only where a call has
// failed, by the types of its parameters, as the calling convention passes them (System V ABI,
// AMD64 supplement, 3.2.3).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpcheck::cudart {

class Allocations;

// The layout is known to entry_points.cpp.
struct ApiCall {
  const char* name = nullptr;            // "cudaMalloc"; null: no call yet
  const void* return_address = nullptr;  // in the program
  const std::uint64_t* stack = nullptr;  // at the entry: the return address, then arguments
  std::array<std::uint64_t, 6> registers{};
};

// Whether it is one of the driver API, cuMemAlloc.
bool is_driver_call(const ApiCall& call);

// The call that this thread is in, as findings name it: without the suffixes of versions and of
// per-thread default streams, "cuMemcpyHtoD" of cuMemcpyHtoD_v2_ptds.  Lives as long as the
// process.
std::string_view told_name();
std::string_view without_suffixes(std::string_view function);
// The same for what a function of the runtime does, which functions of the driver call as well.
std::string_view told_name(std::string_view runtime_function);

// Of this thread.  An outer call is back in it when a host function has returned.
ApiCall& current_call();

// "cudaMalloc(&pointer, 8589934592)"; only the name where the parameters are not known.  Addresses
// of the host are left out: they differ from run to run.
std::string describe(const ApiCall& call, const Allocations& allocations);

}  // namespace warpcheck::cudart
