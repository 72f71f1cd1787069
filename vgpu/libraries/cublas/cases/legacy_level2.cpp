// The same cases by the legacy API.
#define LEGACY
#include "level2.cpp"  // NOLINT(bugprone-suspicious-include)
