// From the fatbinary that nvcc put into a host object to the PTX text in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::cudart {

// Whether the code behind `wrapper` comes in parts that have yet to be linked (nvcc -rdc=true).
bool is_relocatable(const void* wrapper);

// The newest PTX in the fatbinary behind `wrapper`, the argument of __cudaRegisterFatBinary; of
// relocatable code that of every part.  Parts of machine code only are left out: what they define
// stays undefined.
// user: the kernel or variable that is wanted, for messages.
// Throws vgpu::Refusal when there is none: machine code only, or a damaged image.
std::vector<std::string> ptx_in_fatbinary(const void* wrapper, std::string_view user);

}  // namespace warpcheck::cudart
