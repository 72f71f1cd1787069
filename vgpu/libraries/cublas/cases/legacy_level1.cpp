// The cases of level1.cpp, called by the legacy API.
#define LEGACY
#include "level1.cpp"  // NOLINT(bugprone-suspicious-include)
