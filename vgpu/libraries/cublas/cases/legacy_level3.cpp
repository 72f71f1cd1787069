// The same cases by the legacy API.
#define LEGACY
#include "level3.cpp"  // NOLINT(bugprone-suspicious-include)
