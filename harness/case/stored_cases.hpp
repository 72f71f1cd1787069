// The cases of a failure database (campaign/failures.hpp), for those who only run them: its
// directory holds each as a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck {

// What is used when no other is named, and it is there.
inline constexpr std::string_view kDefaultDatabase = ".warpcheck";

// cases/PAIR/*.case below the database, in order of name; none where there is no such directory.
// Throws CaseFileError where there is one that cannot be read.
std::vector<std::string> stored_cases(const std::filesystem::path& database,
                                      const std::string& pair);

}  // namespace warpcheck
