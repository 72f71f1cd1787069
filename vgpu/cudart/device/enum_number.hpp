// Enumerations of the API as programs pass them.
#pragma once

#include <cstring>

namespace warpcheck::cudart {

// The number that a caller passed as an enumeration of the API; it may be none of its values, and
// then even reading it as one is undefined.
template <typename Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace warpcheck::cudart
