// The cases of level2.cpp, called by the legacy API.
#define LEGACY
#include "level2.cpp"  // NOLINT(bugprone-suspicious-include)
