// The PTX of a file with kernels: what it says itself, or what nvcc makes of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpcheck {

struct KernelFile {
  std::string path;                    // as the user names it
  std::string optimized, unoptimized;  // PTX; of a .ptx file one of them is empty
  std::string source;                  // of a .cu file
};

struct CompileOptions {
  std::vector<std::string> instantiate;  // "scan<int, 256>"
  std::vector<std::string> nvcc;         // "-I include", "-DN=4"
  unsigned architecture = 75;
};

// Reads FILE.ptx, or compiles FILE.cu by nvcc, which is searched in CUDA_HOME, on PATH and in
// /usr/local/cuda.  Files
// below the current directory have relative names in the PTX.  Throws UsageError; if nvcc fails,
// its messages are on standard error.
[[nodiscard]] KernelFile kernel_file(const std::string& path, const CompileOptions& options);

// PTX in which loops are not unrolled: that of `nvcc --Ofast-compile=mid`.  Nothing: the file is
// PTX itself, or this nvcc does not know the option.
[[nodiscard]] std::optional<std::string> less_optimized(const std::string& path,
                                                        const CompileOptions& options);

}  // namespace warpcheck
