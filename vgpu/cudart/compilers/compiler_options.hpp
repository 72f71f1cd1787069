// What a program asks the toolkit's compilers for, as the virtual GPU needs it (NVRTC
// documentation, "Supported Compile Options"; nvvm.h).
#pragma once

#include <string>
#include <vector>

namespace warpcheck::cudart {

struct CompilerOptions {
  std::vector<std::string> words;
  bool wants_machine_code = false;    // a real architecture: nvrtcGetCUBIN() has an answer
  bool wants_link_time_code = false;  // code that nvJitLink is to optimise: nvrtcGetLTOIR() has one
};

// Of a real architecture the virtual one of the same number, and lines of the source in any case.
// Code for link-time optimisation becomes PTX that can be linked.
CompilerOptions nvrtc_options_for_the_virtual_gpu(std::vector<std::string> words);

// Code for link-time optimisation becomes PTX.
CompilerOptions nvvm_options_for_the_virtual_gpu(std::vector<std::string> words);

}  // namespace warpcheck::cudart
