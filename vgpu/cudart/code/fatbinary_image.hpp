// Extracts PTX text from the fatbinary that nvcc put into a host object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/device/code_target.hpp"

namespace warpcheck::cudart {

// Returns whether the code behind `wrapper` consists of parts that must be linked (nvcc -rdc=true).
bool is_relocatable(const void* wrapper);

// Returns the PTX that a device of that compute capability (75 is 7.5) would compile from the
// fatbinary behind `wrapper`, the argument of __cudaRegisterFatBinary (ptx::image_for()); for
// relocatable code, that of every part.  Parts with only machine code are left out: what they
// define stays undefined. user: the requested kernel or variable, for messages.  Throws
// vgpu::Refusal if there is no PTX: machine code only, or a damaged image; vgpu::WrongTarget if a
// device that was named does not run it.
std::vector<std::string> ptx_in_fatbinary(const void* wrapper, const CodeTarget& target,
                                          std::string_view user);

// Returns that of a fatbinary without a wrapper.  Throws ptx::FatbinaryError and vgpu::WrongTarget.
std::string ptx_in_image(const void* fatbinary, const CodeTarget& target);

// Returns the newest target of the PTX there, 75 for compute_75; 0: there is no PTX, or the image
// is damaged.  In relocatable code, the toolkit's device runtime (libcudadevrt) does not count,
// because it contains PTX for the newest device, whatever the program was built for.
unsigned newest_target_in_fatbinary(const void* wrapper);

}  // namespace warpcheck::cudart
