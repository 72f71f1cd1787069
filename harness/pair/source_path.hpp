// Source paths in reports: relative to the repository, so that a report has the same bytes wherever
// the project was built.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck {

// "/anywhere/warpcheck/kernels/scan.cu" -> "kernels/scan.cu".  A path outside the repository is
// returned unchanged.
std::string repository_path(std::string_view path);

// The inverse: the path at which the file of a report was when the project was built.
std::string built_path(std::string_view path);

}  // namespace warpcheck
