// Runs every form of forms.def on a real GPU and writes what it computed.
//
//   conformance_record DIR KERNELS [FAMILY...]   one file a family, DIR/FAMILY.vectors; without
//                                                families all.  KERNELS: the directory of what
//                                                ptxas made of kernels.BUILD.ptx,
//                                                BUILD.oLEVEL.cubin, LEVEL from 0 to 3
//   conformance_record --ptx [SM]    prints the PTX, for ptxas
//   conformance_record --supported   prints docs/use/supported-ptx.md
//
// The driver library is opened at run time, so that this program can be built without it.  Forms
// that the GPU does not support are skipped and listed.  Sequences and whole kernels run at every
// optimisation level of the assembler.  If the levels give different results, the program prints
// the difference and records the results of -O0.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "vgpu/conformance/kernel_text.hpp"
#include "vgpu/conformance/operands.hpp"
#include "vgpu/conformance/recording.hpp"
#include "vgpu/conformance/sequences.hpp"
#include "vgpu/conformance/supported_ptx.hpp"
#include "vgpu/conformance/whole_kernels.hpp"
#include "vgpu/real/driver.hpp"

namespace warpcheck::conformance {
namespace {

using ptx::InstructionForm;
using real::DeviceBuffer;
using real::Driver;

Recorded record(Driver& driver, CUmodule module, const std::string& name,
                const InstructionForm& form) {
  const OperandTable operands = operands_of(form);
  Recorded recorded{form.text, static_cast<std::uint32_t>(operands[0].size()), {}};
  recorded.values.resize(form.results.size() * recorded.count);
  std::vector<std::uint64_t> cells;
  for (const auto& column : operands) cells.insert(cells.end(), column.begin(), column.end());
  const std::size_t result_size = recorded.values.size() * 8;
  DeviceBuffer in(driver, cells.size() * 8);
  DeviceBuffer out(driver, result_size);
  driver.call("cuMemcpyHtoD_v2", in.address(), static_cast<const void*>(cells.data()),
              cells.size() * 8);
  driver.call("cuMemsetD8_v2", out.address(), static_cast<unsigned char>(0), result_size);
  CUfunction kernel = nullptr;
  driver.call("cuModuleGetFunction", &kernel, module, name.c_str());
  CUdeviceptr addresses[] = {in.address(), out.address()};
  void* arguments[] = {&addresses[0], &addresses[1]};
  driver.call("cuLaunchKernel", kernel, recorded.count / kThreadsPerBlock, 1u, 1u, kThreadsPerBlock,
              1u, 1u, 0u, CUstream{}, static_cast<void**>(arguments), static_cast<void**>(nullptr));
  driver.call("cuMemcpyDtoH_v2", static_cast<void*>(recorded.values.data()), out.address(),
              result_size);
  return recorded;
}

using Family = std::vector<const InstructionForm*>;

std::map<std::string, Family> families(int target) {
  std::map<std::string, Family> all;
  for (const InstructionForm& form : recorded_forms()) {
    if (form.target <= target) {
      all[form.family].push_back(&form);
    } else {
      std::fprintf(stderr, "needs sm_%d: %s\n", form.target, form.text.c_str());
    }
  }
  return all;
}

// Assembling all kernels of a family in one module would take too long.
constexpr std::size_t kKernelsPerModule = 64;
constexpr unsigned kLevels = 4;  // optimisation levels of the assembler: -O0 to -O3

bool is_same(const InstructionForm& form, const Recorded& x, const Recorded& y, std::size_t at) {
  if (form.family != "kernels") return x.values[at] == y.values[at];
  return is_agreed(form.results[at / x.count], x.values[at], y.values[at], 0);
}

// Prints how the results of an optimisation level differ from those of -O0.
void tell_difference(const InstructionForm& form, std::string_view what, unsigned level,
                     const Recorded& plain, const Recorded& optimized) {
  std::size_t differences = 0, first = 0;
  for (std::size_t at = plain.values.size(); at-- > 0;) {
    if (is_same(form, plain, optimized, at)) continue;
    ++differences;
    first = at;
  }
  if (differences == 0) return;
  std::string operands;
  for (const auto& column : operands_of(form)) {
    operands += fmt::format(" {:#x}", column[first % plain.count]);
  }
  fmt::print("{}{}: {} of {} results differ at -O{}; of{}: {:#x}, not optimised {:#x}\n", form.text,
             what, differences, plain.values.size(), level, operands, optimized.values[first],
             plain.values[first]);
}

void record_module(Driver& driver, const Family& family, std::size_t first, std::size_t end,
                   int target, Recording& recording) {
  std::string text = module_head(target);
  for (std::size_t at = first; at < end; ++at) {
    text += kernel_text(*family[at], fmt::format("form{}", at));
  }
  const bool has_levels = is_sequence(*family[first]);
  for (unsigned level = has_levels ? 0 : kLevels; level <= kLevels; ++level) {
    const CUmodule module = driver.load(text, level);
    for (std::size_t at = first; at < end; ++at) {
      Recorded recorded = record(driver, module, fmt::format("form{}", at), *family[at]);
      if (has_levels && level > 0) {
        tell_difference(*family[at], "", level, recording.forms[at], recorded);
      } else {
        recording.forms.push_back(std::move(recorded));
      }
    }
    driver.call("cuModuleUnload", module);
  }
}

Recording record_family(Driver& driver, const Family& family, int target) {
  Recording recording{driver.description(), {}};
  for (std::size_t first = 0; first < family.size(); first += kKernelsPerModule) {
    const std::size_t end = std::min(first + kKernelsPerModule, family.size());
    record_module(driver, family, first, end, target, recording);
  }
  return recording;
}

int print_ptx(int target) {
  std::string text = module_head(target);
  const auto& forms = recorded_forms();
  for (std::size_t at = 0; at < forms.size(); ++at) {
    if (forms[at].target > target) continue;
    text += kernel_text(forms[at], fmt::format("form{}", at));
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

// The results of one build of the kernels at -O0.
std::vector<Recorded> record_build(Driver& driver, const std::filesystem::path& modules,
                                   const KernelBuild& build) {
  std::vector<Recorded> plain;
  for (unsigned level = 0; level < kLevels; ++level) {
    const CUmodule module =
        driver.load(read_file(modules / fmt::format("{}.o{}.cubin", build.name, level)));
    std::size_t at = 0;
    for (const WholeKernel& kernel : whole_kernels()) {
      if (kernel.form.target > build.target) continue;
      Recorded recorded = record(driver, module, kernel.form.text, kernel.form);
      if (level == 0) {
        plain.push_back(std::move(recorded));
      } else {
        tell_difference(kernel.form, fmt::format("@{}", build.name), level, plain[at], recorded);
      }
      ++at;
    }
    driver.call("cuModuleUnload", module);
  }
  return plain;
}

// The last build contains all kernels.  Results of other builds are recorded only where they differ
// from it.
Recording record_kernels(Driver& driver, const std::filesystem::path& modules) {
  Recording recording{driver.description(),
                      record_build(driver, modules, std::end(kKernelBuilds)[-1])};
  for (const KernelBuild& build : kKernelBuilds) {
    std::vector<Recorded> built = record_build(driver, modules, build);
    for (std::size_t at = 0, next = 0; at < whole_kernels().size(); ++at) {
      const WholeKernel& kernel = whole_kernels()[at];
      if (kernel.form.target > build.target) continue;
      Recorded& recorded = built[next++];
      bool agrees = true;
      for (std::size_t i = 0; i < recorded.values.size(); ++i) {
        agrees = agrees && is_same(kernel.form, recorded, recording.forms[at], i);
      }
      if (agrees) continue;
      fmt::print("{}: the build for {} computes something else\n", recorded.text, build.name);
      recorded.text = name_in_build(kernel, build);
      recording.forms.push_back(std::move(recorded));
    }
  }
  return recording;
}

int record_all(const std::filesystem::path& directory, const std::string& kernels,
               std::span<const char* const> wanted) {
  const auto is_wanted = [&](std::string_view name) {
    return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
  };
  std::filesystem::create_directories(directory);
  Driver driver;
  const int target = driver.target();
  std::size_t vectors = 0;
  for (const auto& [name, family] : families(target)) {
    if (!is_wanted(name)) continue;
    const Recording recording = record_family(driver, family, target);
    const std::string bytes = pack(recording, recorded_forms());
    write_file(directory / (name + ".vectors"), bytes);
    for (const Recorded& recorded : recording.forms) vectors += recorded.count;
    std::printf("%-16s %5zu forms %8zu bytes\n", name.c_str(), family.size(), bytes.size());
  }
  if (is_wanted("kernels")) {
    const Recording recording = record_kernels(driver, kernels);
    write_file(directory / "kernels.vectors", pack(recording, kernel_forms()));
  }
  std::printf("%zu vectors recorded on %s\n", vectors, driver.description().c_str());
  return 0;
}

}  // namespace
}  // namespace warpcheck::conformance

int main(int argc, char** argv) {
  using namespace warpcheck::conformance;
  const std::string_view argument = argc >= 2 ? argv[1] : "";
  try {
    if (argument == "--ptx") return print_ptx(argc > 2 ? std::atoi(argv[2]) : 90);
    if (argument == "--supported") return std::fputs(supported_ptx().c_str(), stdout) < 0;
    if (argc >= 3 && !argument.starts_with("-")) {
      return record_all(argv[1], argv[2], std::span<const char* const>(argv, argc).subspan(3));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "conformance_record: %s\n", error.what());
    return 1;
  }
  std::fputs("usage: conformance_record DIR KERNELS [FAMILY...] | --ptx [SM] | --supported\n",
             stderr);
  return 2;
}
