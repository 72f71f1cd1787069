// Headers of the CUDA toolkit and of the system, as PTX names the files of its source lines.
#pragma once

#include <string_view>

namespace warpcheck::vgpu {

// Whether a file is a header of the CUDA toolkit or the system: not the user's code.
bool is_library_header(std::string_view file);

// "cub/block/block_scan.cuh": as a program includes it.
std::string_view short_header_name(std::string_view header);

}  // namespace warpcheck::vgpu
