# Other projects' libraries.  ci/setup installs them.
set(WARPCHECK_PREBUILT "" CACHE PATH "Where WARPCHECK_SERVICE takes the virtual GPU, the harness and the entry of fuzz targets from")
option(WARPCHECK_SERVICE "Build fuzz targets for a fuzzing service: static, without GoogleTest" OFF)

find_package(CUDAToolkit 13 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(benchmark REQUIRED)
find_package(pugixml REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

if(WARPCHECK_SERVICE)
  # Targets run without the files of the build, with the service's C++ library: everything linked is
  # static, and written in C or compiled here.
  set(WARPCHECK_NO_GTEST ON CACHE BOOL "" FORCE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  find_path(FMT_INCLUDE_DIRECTORY fmt/format.h REQUIRED)
  add_library(warpcheck_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp)
  target_include_directories(warpcheck_fmt PUBLIC ${FMT_INCLUDE_DIRECTORY})
  add_library(fmt::fmt ALIAS warpcheck_fmt)
  set(gmp gmp)  # dependency of a shared mpfr
else()
  find_package(fmt REQUIRED)
endif()
# Debian has it only as a static library.  Older versions have other functions.
find_library(WARPCHECK_ASMJIT libasmjit.a)
if(WARPCHECK_ASMJIT)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("#include <asmjit/core.h>
    static_assert(ASMJIT_LIBRARY_VERSION >= 0x010900);
    int main() {}" WARPCHECK_ASMJIT_IS_KNOWN)
endif()
if(NOT WARPCHECK_ASMJIT_IS_KNOWN)
  set(WARPCHECK_ASMJIT "")
  message(STATUS "No AsmJit 1.9 or later (libasmjit-dev of Debian 12 and Ubuntu 24.04): kernels that run long "
    "are interpreted, not compiled")
endif()
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(mpfr REQUIRED IMPORTED_TARGET mpfr ${gmp})
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(archive REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(dw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(edit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(elf REQUIRED IMPORTED_TARGET libelf)
