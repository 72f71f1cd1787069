// OpenBLAS reads no setting from the environment: what a user has set for it must not change what a
// program computes here.  The linker leads every call of getenv() in this library here (--wrap).
extern "C" char* __wrap_getenv(const char*);  // NOLINT: the linker's name

extern "C" char* __wrap_getenv(const char*) { return nullptr; }  // NOLINT
