// Names of internal linkage, "_GLOBAL__N__24de3722_7_scan_cu_8c96d262", contain numbers that nvcc
// derives from the path of the compiled file.  Code that was compiled from a copy of the file gets
// those of the original here, by which the host knows its kernels and variables.
#pragma once

#include <string>
#include <vector>

namespace warpcheck::cudart {

// names: of the original's kernels and variables
void restore_file_marks(const std::vector<std::string>& names, std::string& ptx);

}  // namespace warpcheck::cudart
