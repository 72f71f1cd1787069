// Recognises headers of the CUDA toolkit and of the system by the file names in PTX.
#pragma once

#include <string_view>

namespace warpcheck::vgpu {

// Returns whether a file is a header of the CUDA toolkit or the system, and so not the user's code.
bool is_library_header(std::string_view file);

// Returns the name by which a program includes the header: "cub/block/block_scan.cuh".
std::string_view short_header_name(std::string_view header);

}  // namespace warpcheck::vgpu
