// What a program asks NVRTC for, as the virtual GPU needs it (NVRTC documentation, "Supported
// Compile Options").
#pragma once

#include <string>
#include <vector>

namespace warpcheck::cudart {

struct NvrtcOptions {
  std::vector<std::string> words;
  bool wants_machine_code = false;  // a real architecture: nvrtcGetCUBIN() has an answer
};

// Of a real architecture the virtual one of the same number, and lines of the source in any case.
NvrtcOptions options_for_the_virtual_gpu(std::vector<std::string> words);

}  // namespace warpcheck::cudart
