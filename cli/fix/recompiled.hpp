// Code of kernels, compiled again from changed sources, in both builds: what a patch is verified
// with is what the compiler makes of it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/code/text_kernel.hpp"
#include "vgpu/cudart/device/build.hpp"

namespace warpcheck::cudart {
class Unit;
}

namespace warpcheck {

// A translation unit, and how nvcc compiles it.
struct SourceUnit {
  cudart::KernelSource source;       // an empty path: not known
  std::vector<std::string> kernels;  // mangled: those that were launched
  std::string target;                // "sm_75", of its PTX
  // The options of the build of a program; of a pair's kernels, those of warpcheck_kernels().
  std::vector<std::string> options{};
  bool is_pair = true;
  bool is_relocatable = false;  // a part of a program that is linked (nvcc -rdc=true)
};

struct LaunchedUnit {
  cudart::Unit* unit = nullptr;
  SourceUnit source;
};

// The units of the kernels that the last trial has launched.
std::vector<LaunchedUnit> launched_units();

// The texts of files in place of those on disk, by their absolute paths.
using ChangedFiles = std::map<std::string, std::string>;

// The PTX that nvcc makes of a unit.  Empty: it does not compile; `why` gets the first error.
std::optional<std::string> compile_unit(const SourceUnit& unit, const ChangedFiles& changed,
                                        cudart::Build build, std::string& why);

// Builds a program of one unit at `output`, with line information for the host's code, too.  False:
// it cannot be built; `why` gets the first error.
bool build_program(const SourceUnit& unit, const ChangedFiles& changed,
                   const std::filesystem::path& output, std::string& why);

// While it exists, trials run these texts instead of the unit's own code.
class UnitTexts {
 public:
  UnitTexts(cudart::Unit& unit, cudart::BuildTexts texts);
  ~UnitTexts();
  UnitTexts(const UnitTexts&) = delete;
  UnitTexts& operator=(const UnitTexts&) = delete;

 private:
  cudart::Unit& unit_;
};

}  // namespace warpcheck
