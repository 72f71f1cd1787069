// Libraries of CUDA programs that the virtual GPU cannot take the place of, by their file names.
//
// `warpcheck exec` refuses a program that needs one before it runs, and tells which of those that a
// process has opened later does anything: their calls fail for want of a GPU, and the report would
// say "no findings" of a program that has done nothing.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck::cudart {

// Why the library cannot be used, and what to do.  file: "libcublas.so.13", without a directory;
// empty: it is none of them.
[[nodiscard]] std::string why_unsupported(std::string_view file);

}  // namespace warpcheck::cudart
