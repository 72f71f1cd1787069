#include "cli/kernel/kernel_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "cli/cli.hpp"
#include "cli/kernel/gpuverify_header.hpp"
#include "cli/kernel/nvcc.hpp"
#include "cli/kernel/temporary_files.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

std::string read_text_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UsageError(fmt::format("cannot read {}: it is a directory", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    throw UsageError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  return text.str();
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// nvcc names files absolutely, so that reports would differ between directories.
std::string with_relative_files(std::string ptx) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (!error) replace_all(ptx, fmt::format("\"{}/", here.string()), "\"");
  return ptx;
}

// What makes nvcc instantiate the templates: their addresses are taken.
std::string instantiating(const fs::path& file, const std::vector<std::string>& kernels) {
  std::string text = fmt::format("#include \"{}\"\n", file.string());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += fmt::format("void* warpcheck_instantiation_{} = reinterpret_cast<void*>(&{});\n", i,
                        kernels[i]);
  }
  return text;
}

KernelFile compiled(const fs::path& path, const CompileOptions& options) {
  KernelFile file{
      .path = path.string(), .optimized = {}, .unoptimized = {}, .source = read_text_file(path)};
  const TemporaryFiles temporary("kernel");
  fs::path input = fs::absolute(path).lexically_normal();
  if (!options.instantiate.empty()) {
    input = temporary.write("instantiations.cu", instantiating(input, options.instantiate));
  }
  std::vector<std::string> common{nvcc_program(), "-ptx",
                                  fmt::format("-arch=compute_{}", options.architecture)};
  if (uses_gpuverify(file.source)) {
    common.insert(common.end(),
                  {"-include", temporary.write("gpuverify.h", kGpuverifyHeader).string()});
    if (has_invariants_to_compute(file.source))
      common.emplace_back("-DWARPCHECK_COMPUTES_INVARIANTS");
  }
  common.insert(common.end(), options.nvcc.begin(), options.nvcc.end());
  const auto make = [&](std::vector<std::string> build_options) {
    std::vector<std::string> command = common;
    command.insert(command.end(), build_options.begin(), build_options.end());
    const fs::path output = temporary / "kernel.ptx";
    command.insert(command.end(), {input.string(), "-o", output.string()});
    if (run_nvcc(command) != 0) {
      throw UsageError(fmt::format("{} failed; its messages are above", command.front()));
    }
    return with_relative_files(read_text_file(output));
  };
  file.optimized = make({"-lineinfo"});
  file.unoptimized = make({"-G", "-w"});  // warnings once
  return file;
}

}  // namespace

KernelFile kernel_file(const std::string& path, const CompileOptions& options) {
  if (!path.ends_with(".ptx")) return compiled(path, options);
  if (!options.instantiate.empty() || !options.nvcc.empty()) {
    throw UsageError(
        "--instantiate and --nvcc are for a .cu file: a .ptx file is compiled already");
  }
  KernelFile file{.path = path, .optimized = {}, .unoptimized = {}, .source = {}};
  std::string text = with_relative_files(read_text_file(path));
  const bool is_debug = text.find(", debug") != std::string::npos;
  (is_debug ? file.unoptimized : file.optimized) = std::move(text);
  return file;
}

}  // namespace warpcheck
