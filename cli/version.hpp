// The version of warpcheck.
#pragma once

#include <string>

namespace warpcheck {

// "0.1.0"
std::string version();
// "0.1.0 (5f67f73a12)", with the commit if the sources have their history, and "-dirty" if they
// were changed.
std::string version_and_commit();

}  // namespace warpcheck
