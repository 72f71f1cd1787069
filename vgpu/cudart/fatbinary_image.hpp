// From the fatbinary that nvcc put into a host object to the PTX text in it.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck::cudart {

// The newest PTX in the fatbinary behind `wrapper`, the argument of __cudaRegisterFatBinary.
// user: the kernel or variable that is wanted, for messages.
// Throws vgpu::Refusal when there is none: machine code only, a damaged image, or relocatable
// device code that has yet to be linked.
std::string ptx_in_fatbinary(const void* wrapper, std::string_view user);

}  // namespace warpcheck::cudart
