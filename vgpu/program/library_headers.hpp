// Recognises headers of the CUDA toolkit and of the system by the file names in PTX.  Headers of
// CUB, thrust and libcu++ are also recognised in a project's own folder
// (vgpu/ptx/library_files.hpp).
#pragma once

#include <string_view>

namespace warpcheck::vgpu {

// Returns whether a file is a header of the CUDA toolkit or the system, and so not the user's code.
bool is_library_header(std::string_view file);

// Returns the name by which a program includes the header: "cub/block/block_scan.cuh".
std::string_view short_header_name(std::string_view header);

// Returns whether a header of the toolkit has code of its own.  Headers that wrap one instruction,
// such as atomicAdd(), do not: they are .hpp files beside the toolkit's other headers, and their
// lines tell a reader no more than the line of the call.
bool is_library_code(std::string_view header);

}  // namespace warpcheck::vgpu
