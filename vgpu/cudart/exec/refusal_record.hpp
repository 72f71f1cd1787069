// Writes a record for `warpcheck exec` (exec_records.hpp) from code that does not use the virtual
// GPU: the library that redirects static runtimes, in every process that the program starts.
#pragma once

#include <string_view>

namespace warpcheck::cudart {

// Appends a RefusalRecord of this process to the file that the settings name. settings: the value
// of the environment variable (kExecVariable); nullptr: it is not set.  False: the record was not
// written.
bool append_refusal(const char* settings, std::string_view reason);

}  // namespace warpcheck::cudart
