// The options that a program passes to the toolkit's compilers, translated for the virtual GPU
// (NVRTC documentation, "Supported Compile Options"; nvvm.h).
#pragma once

#include <string>
#include <vector>

namespace warpcheck::cudart {

struct CompilerOptions {
  std::vector<std::string> words;
  bool wants_machine_code = false;  // a real architecture: nvrtcGetCUBIN() returns a result
  // code for nvJitLink's optimisation: nvrtcGetLTOIR() returns a result
  bool wants_link_time_code = false;
};

// Replaces a real architecture by the virtual one with the same number, and always requests source
// lines.  Code for link-time optimisation becomes linkable PTX.
CompilerOptions nvrtc_options_for_the_virtual_gpu(std::vector<std::string> words);

// Code for link-time optimisation becomes PTX.
CompilerOptions nvvm_options_for_the_virtual_gpu(std::vector<std::string> words);

}  // namespace warpcheck::cudart
