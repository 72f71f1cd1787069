#include "cli/kernel/kernel_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "cli/cli.hpp"
#include "cli/kernel/gpuverify_header.hpp"
#include "cli/kernel/nvcc.hpp"
#include "cli/kernel/temporary_files.hpp"
#include "vgpu/text/replace_all.hpp"

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

// The compiler of one file.
class Compilation {
 public:
  Compilation(const fs::path& path, const CompileOptions& options)
      : source_(read_text_file(path)), temporary_("kernel") {
    input_ = fs::absolute(path).lexically_normal();
    if (!options.instantiate.empty()) {
      const fs::path file = temporary_ / "instantiations.cu";
      TemporaryFiles::write(file, instantiating(input_, options.instantiate));
      input_ = file;
    }
    require_text(path);
    // Whatever the file's name ends with: kernels are in headers, too.
    common_ = {nvcc_program(), "-ptx", "-x", "cu",
               fmt::format("-arch=compute_{}", options.architecture)};
    const std::string annotations = gpuverify_header(source_);
    if (!annotations.empty()) {
      const fs::path header = temporary_ / "gpuverify.h";
      TemporaryFiles::write(header, annotations);
      common_.insert(common_.end(), {"-include", header.string()});
    }
    common_.insert(common_.end(), options.nvcc.begin(), options.nvcc.end());
  }

  void require_text(const fs::path& path) const {
    if (source_.find('\0') == std::string::npos) return;
    throw UsageError(
        fmt::format("{0}: neither CUDA source nor PTX; a program is run by: warpcheck exec -- {0}",
                    path.string()));
  }

  // Nothing: nvcc fails.
  //   messages: as of run_nvcc()
  [[nodiscard]] std::optional<std::string> ptx(const std::vector<std::string>& build_options,
                                               const fs::path& messages = {}) const {
    std::vector<std::string> command = common_;
    command.insert(command.end(), build_options.begin(), build_options.end());
    const fs::path output = temporary_ / "kernel.ptx";
    command.insert(command.end(), {input_.string(), "-o", output.string()});
    if (run_nvcc(command, messages) != 0) return std::nullopt;
    return with_relative_files(read_text_file(output));
  }
  [[nodiscard]] std::string ptx_or_throw(const std::vector<std::string>& build_options) const {
    std::optional<std::string> text = ptx(build_options);
    if (text) return *std::move(text);
    throw UsageError(fmt::format("{} failed; its messages are above", common_.front()));
  }

  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] fs::path messages() const { return temporary_ / "messages.txt"; }

 private:
  std::string source_;
  TemporaryFiles temporary_;
  fs::path input_;
  std::vector<std::string> common_;
};

KernelFile compiled(const fs::path& path, const CompileOptions& options) {
  const Compilation compilation(path, options);
  return {.path = path.string(),
          .optimized = compilation.ptx_or_throw({"-lineinfo"}),
          .unoptimized = compilation.ptx_or_throw({"-G", "-w"}),  // warnings once
          .source = compilation.source()};
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

std::optional<std::string> less_optimized(const std::string& path, const CompileOptions& options) {
  if (path.ends_with(".ptx")) return std::nullopt;
  const Compilation compilation(path, options);
  return compilation.ptx({"-lineinfo", "-w", "--Ofast-compile=mid"}, compilation.messages());
}

}  // namespace warpcheck
