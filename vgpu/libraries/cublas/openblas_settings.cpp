// OpenBLAS reads settings from the environment.  They must not change what a program computes here,
// so the linker redirects every call of getenv() in this library to this function (--wrap).
extern "C" char* __wrap_getenv(const char*);  // NOLINT: the linker's name

extern "C" char* __wrap_getenv(const char*) { return nullptr; }  // NOLINT
