// Calls whose result a program never reads, as the machine code behind them shows: the result
// (register eax) is overwritten, on each path, before an instruction reads it.
#pragma once

#include <vector>

namespace warpcheck::cudart {

//   return_addresses: those that lead to the call, innermost first
bool is_never_read(const std::vector<const void*>& return_addresses);

}  // namespace warpcheck::cudart
