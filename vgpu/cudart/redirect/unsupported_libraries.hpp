// Libraries of CUDA programs that the virtual GPU cannot replace, by their file names.
//
// `warpcheck exec` refuses a program that links such a library before it runs, and reports if a
// process opens one later: its calls fail because there is no GPU, and without this report "no
// findings" would be the result of a program that did nothing.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck::cudart {

// Returns why the library cannot be used, and what to do. file: "libcublas.so.13", without a
// directory; empty: it is not such a library.
[[nodiscard]] std::string why_unsupported(std::string_view file);

}  // namespace warpcheck::cudart
