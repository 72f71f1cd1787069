// Source paths as reports print them: relative to the repository, so that a report has the same
// bytes wherever the project was built.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck {

// "/anywhere/warpcheck/kernels/scan.cu" -> "kernels/scan.cu".  A path outside the repository is
// returned as it is.
std::string repository_path(std::string_view path);

// The other way: where a path of a report was when the project was built.
std::string built_path(std::string_view path);

}  // namespace warpcheck
