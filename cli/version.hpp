// Which warpcheck this is.
#pragma once

#include <string>

namespace warpcheck {

// "0.1.0"
std::string version();
// "0.1.0 (5f67f73a12)", with the commit where the sources came with their history, and "-dirty"
// where they had been changed.
std::string version_and_commit();

}  // namespace warpcheck
