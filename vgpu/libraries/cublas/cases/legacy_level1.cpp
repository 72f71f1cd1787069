// The same cases by the legacy API.
#define LEGACY
#include "level1.cpp"  // NOLINT(bugprone-suspicious-include)
