// The files of a new pair: those of examples/saxpy with another name, so that the tests build and
// run exactly what a new user gets.
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

// A name is invalid for a pair, or a file exists already or cannot be written.  what() is one line.
class NewPairError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// NAME.cu, NAME_reference.hpp, NAME_pair.cpp and CMakeLists.txt, in this order.  `planted`: with a
// bug in the kernel.  Throws NewPairError unless `name` consists of lower-case letters, digits and
// single underscores, begins with a letter, and is no name of C++ or CMake.
std::vector<NewFile> new_pair_files(std::string_view name, bool planted);

// "row_sum" -> "RowSum"
[[nodiscard]] std::string type_name(std::string_view name);

// Throws NewPairError if a pair cannot have the name.
void check_pair_name(std::string_view name);

// Writes these files, the last of which is a CMakeLists.txt, as write_new_pair() does.
std::vector<NewFile> write_new_files(const std::filesystem::path& directory,
                                     std::vector<NewFile> files);

// Writes the files; an existing CMakeLists.txt is not changed and not in the result. Throws
// NewPairError if it cannot write all of them, and then writes none.
std::vector<NewFile> write_new_pair(const std::filesystem::path& directory, std::string_view name,
                                    bool planted);

}  // namespace warpcheck
