#include "vgpu/conformance/whole_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "vgpu/machine/compute/exact.hpp"

namespace warpcheck::conformance {
namespace {

// A row of whole_kernels.def.  A row without a name sets the target of the rows that follow.
struct Row {
  const char* name;
  const char* result;
  unsigned results;
  const char* source;
  unsigned sources, ulps;
  int target;
};
constexpr Row target_row(int target) { return {nullptr, "", 0, "", 0, 0, target}; }

constexpr Row kRows[] = {
#define UNARY_TO(name, result, type, ...) {#name, #result, 1, #type, 1, 0, 0},
#define BINARY_TO(name, result, type, ...) {#name, #result, 1, #type, 2, 0, 0},
#define TERNARY(name, type, ...) {#name, #type, 1, #type, 3, 0, 0},
#define QUATERNARY(name, type, ...) {#name, #type, 1, #type, 4, 0, 0},
#define WIDE(name, type, ...) {#name, "u64", 2, "u64", 4, 0, 0},
#define PAIRED(name, type, ...) {#name, #type, 2, #type, 4, 0, 0},
#define HORIZONTAL(name, type, ...) {#name, #type, 1, #type, 1, 0, 0},
#define ABOUT(name, type, ulps, ...) {#name, #type, 1, #type, 1, ulps, 0},
#define ABOUT_TWO(name, type, ulps, ...) {#name, #type, 1, #type, 2, ulps, 0},
#define FROM_80(...) target_row(80), __VA_ARGS__ target_row(75),
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
};

std::vector<WholeKernel> listed() {
  std::vector<WholeKernel> kernels;
  int target = 75;
  for (const Row& row : kRows) {
    if (row.name == nullptr) {
      target = row.target;
      continue;
    }
    const std::vector<std::string> results(row.results, row.result);
    const std::vector<std::string> sources(row.sources, row.source);
    kernels.push_back({{"kernels", target, row.name, results, sources, row.name}, row.ulps});
  }
  return kernels;
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
  if (format.is_nan(x) || format.is_nan(y)) {
    return format.is_nan(x) && format.is_nan(y) ? 0 : UINT64_MAX;
  }
  return vgpu::exact::ulps_between(format, x, y);
}

bool is_agreed(std::string_view type, std::uint64_t x, std::uint64_t y, unsigned ulps) {
  if (x == y) return true;
  if (type == "f64" && (x << 1) > (vgpu::exact::kF64.infinity() << 1))
    return ulps_between(type, x, y) == 0;
  return ulps != 0 && ulps_between(type, x, y) <= ulps;
}

}  // namespace warpcheck::conformance
