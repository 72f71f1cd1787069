// Formats the arguments of a call, which are read from the registers and the stack by the calling
// convention (System V ABI, AMD64 supplement, 3.2.3) and by the parameter types in the API's
// headers.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/api/calls/known_addresses.hpp"

namespace warpcheck::cudart {

// Reads arguments in order from the places where the caller passed them.
class Arguments {
 public:
  explicit Arguments(const ApiCall& call) : call_(call) {}

  template <typename T>
  T next() {
    constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
    const bool in_registers = kWords <= 2 && register_ + kWords <= call_.registers.size();
    const std::uint64_t* const from =
        in_registers ? call_.registers.data() + register_ : call_.stack + 1 + stack_;
    (in_registers ? register_ : stack_) += kWords;
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    return __builtin_bit_cast(T, bytes);
  }

 private:
  const ApiCall& call_;
  std::size_t register_ = 0, stack_ = 0;
};

inline std::string show_kind(int kind) {
  switch (kind) {
    case cudaMemcpyHostToHost: return "cudaMemcpyHostToHost";
    case cudaMemcpyHostToDevice: return "cudaMemcpyHostToDevice";
    case cudaMemcpyDeviceToHost: return "cudaMemcpyDeviceToHost";
    case cudaMemcpyDeviceToDevice: return "cudaMemcpyDeviceToDevice";
    case cudaMemcpyDefault: return "cudaMemcpyDefault";
    default: return fmt::format("{}", kind);
  }
}

inline std::string show_address(const KnownAddresses& known, const void* address) {
  if (address == nullptr) return "nullptr";
  if (std::string kernel = known.kernel_at(address); !kernel.empty()) return kernel;
  if (!known.is_of_device(address)) return "host pointer";
  return fmt::format("{:#x}", reinterpret_cast<std::uint64_t>(address));
}

inline std::string show_stream(cudaStream_t stream) {
  if (stream == nullptr) return "stream 0";
  if (stream == cudaStreamLegacy) return "cudaStreamLegacy";
  return stream == cudaStreamPerThread ? "cudaStreamPerThread" : "stream";
}

// Formats the next argument, of type T.
template <typename T>
std::string show(Arguments& arguments, const KnownAddresses& known) {
  if constexpr (std::is_same_v<T, cudaStream_t>) {
    return show_stream(arguments.next<T>());
  } else if constexpr (std::is_enum_v<T>) {
    const int number = arguments.next<int>();  // may be no value of the enumeration
    return std::is_same_v<T, cudaMemcpyKind> ? show_kind(number) : fmt::format("{}", number);
  } else if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    const void* const pointer = arguments.next<const void*>();
    if constexpr (std::is_void_v<Target>) {
      return show_address(known, pointer);
    } else {
      return pointer == nullptr ? "nullptr" : std::is_pointer_v<Target> ? "&pointer" : "pointer";
    }
  } else if constexpr (std::is_same_v<T, dim3>) {
    const auto [x, y, z] = arguments.next<std::array<unsigned, 3>>();
    return fmt::format("({},{},{})", x, y, z);
  } else if constexpr (std::is_same_v<T, cudaExtent>) {
    const auto extent = arguments.next<T>();
    return fmt::format("{{{}, {}, {}}}", extent.width, extent.height, extent.depth);
  } else if constexpr (std::is_same_v<T, unsigned long long>) {  // also the driver's addresses
    const auto number = arguments.next<unsigned long long>();
    const bool is_address = known.is_of_device(reinterpret_cast<const void*>(number));
    return is_address ? fmt::format("{:#x}", number) : fmt::format("{}", number);
  } else if constexpr (std::is_floating_point_v<T>) {
    return "...";  // in a vector register, which is not saved
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("{}", arguments.next<T>());
  } else {
    static_assert(std::is_class_v<T>, "a type that is passed in other registers");
    arguments.next<std::array<std::byte, sizeof(T)>>();
    return "{...}";
  }
}

// Formats all arguments of a function that returns an error.
template <typename Result, typename... Parameters>
requires std::is_enum_v<Result> std::string show_all(Result (*)(Parameters...), const ApiCall& call,
                                                     const KnownAddresses& known) {
  Arguments arguments(call);
  const std::vector<std::string> texts{show<Parameters>(arguments, known)...};
  return fmt::format("({})", fmt::join(texts, ", "));
}

// Returns "" for a function that does not return an error.
template <typename Other>
std::string show_all(Other, const ApiCall&, const KnownAddresses&) {
  return {};
}

// Formats the arguments of a driver API function, named without its suffixes
// (driver_signatures.cpp).
std::string describe_driver_call(std::string_view name, const ApiCall& call,
                                 const KnownAddresses& known);

}  // namespace warpcheck::cudart
