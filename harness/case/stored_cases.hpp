// The cases of a failure database (campaign/failures.hpp) as files, for code that only runs them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// The database that is used by default, if it exists.
inline constexpr std::string_view kDefaultDatabase = ".warpcheck";

// The files cases/PAIR/*.case below the database, in order of name; empty if there is no such
// directory.  Throws CaseFileError if the directory cannot be read.
std::vector<std::string> stored_cases(const std::filesystem::path& database,
                                      const std::string& pair);

}  // namespace warpcheck
