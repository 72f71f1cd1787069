// The files that a new pair begins with: those of examples/saxpy under another name, so what a
// newcomer gets is what the tests build and run.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

struct NewFile {
  std::string name;
  std::string text;
};

// A name that cannot be a pair's, or a file that is there already or cannot be written.  what() is
// one line.
class NewPairError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// NAME.cu, NAME_reference.hpp, NAME_pair.cpp and CMakeLists.txt, in this order.  `planted`: with a
// bug in the kernel.  Throws NewPairError unless `name` is of lower-case letters, digits and single
// underscores, begins with a letter, and names nothing in C++ or CMake.
std::vector<NewFile> new_pair_files(std::string_view name, bool planted);

// Writes them; a CMakeLists.txt that is there already is left alone and left out of the result.
// Throws NewPairError, and has then written nothing.
std::vector<NewFile> write_new_pair(const std::filesystem::path& directory, std::string_view name,
                                    bool planted);

}  // namespace warpcheck
