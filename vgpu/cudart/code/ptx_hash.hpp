// A hash of a kernel's PTX that changes only if its code changes.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpcheck::cudart {

// Hashes the text of `kernel` (its .entry) in the translation unit `ptx`, and of every .func.  Left
// out is what can change without the code: source lines (.loc, .file), comments, debug sections and
// labels, the number of the function in its block labels, and the hash of the file's path in names
// of internal linkage.
std::uint64_t hash_of_kernel(std::string_view ptx, std::string_view kernel);

}  // namespace warpcheck::cudart
