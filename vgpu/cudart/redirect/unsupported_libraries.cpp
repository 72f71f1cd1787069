#include "vgpu/cudart/redirect/unsupported_libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpcheck::cudart {
namespace {

// Names up to ".so"; a star matches any rest.
constexpr std::array<std::string_view, 21> kMachineCode{
    "libcublas",     "libcublasLt", "libcublasXt", "libnvblas",   "libcufft",      "libcufftw",
    "libcufftMp",    "libcudnn",    "libcudnn_*",  "libcusparse", "libcusparseLt", "libcusolver",
    "libcusolverMg", "libcurand",   "libcutensor", "libnccl",     "libnvshmem_*",  "libnpp*",
    "libnvjpeg",     "libnvcomp*",  "libnvinfer*"};
constexpr std::array<std::string_view, 1> kDriver{"libnvcuvid"};

template <class Patterns>
bool has_match(const Patterns& patterns, std::string_view stem) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) return stem == pattern;
    pattern.remove_suffix(1);
    return stem.starts_with(pattern);
  });
}

}  // namespace

std::string why_unsupported(std::string_view file) {
  const std::size_t end = file.find(".so");
  if (end == std::string_view::npos) return {};
  const std::string_view stem = file.substr(0, end);
  if (has_match(kMachineCode, stem)) {
    return fmt::format(
        "{} holds machine code of real GPUs, which the virtual GPU cannot run; build the program "
        "without it (with kernels that nvcc compiles, or a computation on the host, in its place)",
        file);
  }
  if (has_match(kDriver, stem)) {
    return fmt::format(
        "{} is of the driver of a real GPU, which the virtual GPU has no counterpart of", file);
  }
  return {};
}

}  // namespace warpcheck::cudart
