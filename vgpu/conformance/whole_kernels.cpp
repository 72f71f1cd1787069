#include "vgpu/conformance/whole_kernels.hpp"

#include <string>
#include <type_traits>

namespace warpcheck::conformance {
namespace {

template <class T>
std::string type_name() {
  const std::string bits = std::to_string(8 * sizeof(T));
  if constexpr (std::is_floating_point_v<T>) return "f" + bits;
  return (std::is_signed_v<T> ? "s" : "u") + bits;
}

template <class T>
ptx::InstructionForm kernel(const char* name, std::size_t sources) {
  return {"kernels", 75, name, {type_name<T>()}, {sources, type_name<T>()}, name};
}

}  // namespace

const std::vector<ptx::InstructionForm>& whole_kernels() {
  static const std::vector<ptx::InstructionForm> kernels = {
#define UNARY(name, type, expression) kernel<type>(#name, 1),
#define BINARY(name, type, expression) kernel<type>(#name, 2),
#define HORIZONTAL(name, type, ...) kernel<type>(#name, 1),
#include "vgpu/conformance/whole_kernels.def"
#undef HORIZONTAL
#undef BINARY
#undef UNARY
  };
  return kernels;
}

}  // namespace warpcheck::conformance
