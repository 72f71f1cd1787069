// The cases of level3.cpp, called by the legacy API.
#define LEGACY
#include "level3.cpp"  // NOLINT(bugprone-suspicious-include)
