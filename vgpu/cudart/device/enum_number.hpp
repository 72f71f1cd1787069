// Enumeration values of the API as programs pass them.
#pragma once

#include <cstring>

namespace warpcheck::cudart {

// Returns the number that a caller passed as an enumeration of the API.  It may be none of the
// enumeration's values, and then reading it as the enumeration is undefined.
template <typename Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace warpcheck::cudart
