// From the fatbinary that nvcc put into a host object to the PTX text in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::cudart {

// Whether the code behind `wrapper` comes in parts that have yet to be linked (nvcc -rdc=true).
bool is_relocatable(const void* wrapper);

// The PTX that a device of compute capability `sm` (75 is 7.5) would compile from the fatbinary
// behind `wrapper`, the argument of __cudaRegisterFatBinary: the newest that is not above it, else
// the oldest; of relocatable code that of every part.  Parts of machine code only are left out:
// what they define stays undefined.
// user: the kernel or variable that is wanted, for messages.
// Throws vgpu::Refusal when there is none: machine code only, or a damaged image.
std::vector<std::string> ptx_in_fatbinary(const void* wrapper, unsigned sm, std::string_view user);

// The same of one fatbinary without a wrapper.  Throws ptx::FatbinaryError.
std::string ptx_in_image(const void* fatbinary, unsigned sm);

// The newest target of PTX there, 75 for compute_75; 0: there is none, or the image is damaged.
// Of relocatable code the toolkit's device runtime (libcudadevrt) does not count: it brings PTX for
// the newest device there is, whatever the program was built for.
unsigned newest_target_in_fatbinary(const void* wrapper);

}  // namespace warpcheck::cudart
