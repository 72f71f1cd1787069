#include "vgpu/conformance/whole_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "vgpu/machine/exact.hpp"

namespace warpcheck::conformance {
namespace {

class Kernels {
 public:
  void add(const char* name, std::vector<std::string> results, std::vector<std::string> sources,
           unsigned ulps = 0) {
    all_.push_back({{"kernels", target, name, std::move(results), std::move(sources), name}, ulps});
  }
  std::vector<WholeKernel> take() { return std::move(all_); }

  int target = 75;

 private:
  std::vector<WholeKernel> all_;
};

std::vector<std::string> some(std::size_t count, const char* type) { return {count, type}; }

std::vector<WholeKernel> listed() {
  Kernels kernels;
#define UNARY_TO(name, result, type, ...) kernels.add(#name, {#result}, some(1, #type));
#define BINARY_TO(name, result, type, ...) kernels.add(#name, {#result}, some(2, #type));
#define TERNARY(name, type, ...) kernels.add(#name, {#type}, some(3, #type));
#define QUATERNARY(name, type, ...) kernels.add(#name, {#type}, some(4, #type));
#define WIDE(name, type, ...) kernels.add(#name, some(2, "u64"), some(4, "u64"));
#define PAIRED(name, type, ...) kernels.add(#name, some(2, #type), some(4, #type));
#define HORIZONTAL(name, type, ...) kernels.add(#name, {#type}, some(1, #type));
#define ABOUT(name, type, ulps, ...) kernels.add(#name, {#type}, some(1, #type), ulps);
#define ABOUT_TWO(name, type, ulps, ...) kernels.add(#name, {#type}, some(2, #type), ulps);
#define FROM_80(...)   \
  kernels.target = 80; \
  __VA_ARGS__          \
  kernels.target = 75;
#include "vgpu/conformance/whole_kernels.def"
#undef FROM_80
#undef ABOUT_TWO
#undef ABOUT
#undef HORIZONTAL
#undef PAIRED
#undef WIDE
#undef QUATERNARY
#undef TERNARY
#undef BINARY_TO
#undef UNARY_TO
  return kernels.take();
}

// Numbers in the order of floats, one apart for neighbours; both zeros are one.
std::int64_t place_of(const vgpu::exact::Format& format, std::uint64_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & (format.sign() - 1));
  return (bits & format.sign()) != 0 ? -magnitude : magnitude;
}

}  // namespace

const std::vector<WholeKernel>& whole_kernels() {
  static const std::vector<WholeKernel> kernels = listed();
  return kernels;
}

std::string name_in_build(const WholeKernel& kernel, const KernelBuild& build) {
  return fmt::format("{}@{}", kernel.form.text, build.name);
}

std::vector<ptx::InstructionForm> kernel_forms() {
  std::vector<ptx::InstructionForm> forms;
  for (const WholeKernel& kernel : whole_kernels()) {
    forms.push_back(kernel.form);
    for (const KernelBuild& build : kKernelBuilds) {
      forms.push_back(kernel.form);
      forms.back().text = name_in_build(kernel, build);
    }
  }
  return forms;
}

std::uint64_t ulps_between(std::string_view type, std::uint64_t x, std::uint64_t y) {
  const vgpu::exact::Format& format = type == "f64"    ? vgpu::exact::kF64
                                      : type == "f16"  ? vgpu::exact::kF16
                                      : type == "bf16" ? vgpu::exact::kBf16
                                                       : vgpu::exact::kF32;
  const auto is_nan = [&](std::uint64_t bits) {
    return (bits & (format.sign() - 1)) > format.infinity();
  };
  if (is_nan(x) || is_nan(y)) return is_nan(x) && is_nan(y) ? 0 : UINT64_MAX;
  const std::int64_t a = place_of(format, x), b = place_of(format, y);
  return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
               : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

bool is_agreed(std::string_view type, std::uint64_t x, std::uint64_t y, unsigned ulps) {
  if (x == y) return true;
  if (type == "f64" && (x << 1) > (vgpu::exact::kF64.infinity() << 1))
    return ulps_between(type, x, y) == 0;
  return ulps != 0 && ulps_between(type, x, y) <= ulps;
}

}  // namespace warpcheck::conformance
