# Language standards, warnings and build types for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Links in a fraction of the time; a fuzzing service chooses its own linker.
find_program(WARPCHECK_MOLD mold)
if(WARPCHECK_MOLD AND NOT WARPCHECK_SERVICE)
  add_link_options(-fuse-ld=mold)
endif()

option(WARPCHECK_WERROR "Treat warnings as errors" ON)

add_library(warpcheck_options INTERFACE)
target_include_directories(warpcheck_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
set(warpcheck_warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -ffp-contract=off -fno-semantic-interposition
  # Sources that are compiled together look like headers to the compiler.
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  $<$<BOOL:${WARPCHECK_WERROR}>:-Werror>)
target_compile_options(warpcheck_options INTERFACE
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:${warpcheck_warnings}>>")
# For projects that link an installed copy; this project sets CMAKE_CXX_STANDARD above.
target_compile_features(warpcheck_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)

# Also for executables that only link kernels: CMake would add the real CUDA runtime to them.
set(CMAKE_CUDA_RUNTIME_LIBRARY None)

# warpcheck_sources(target FILES...): adds sources to a target of this or of an outer directory.
#
# Only files that mention WARPCHECK_SOURCE_DIR get its definition; all others compile to the same
# objects in every checkout, so a compiler cache works.
function(warpcheck_sources target)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    target_sources(${target} PRIVATE ${source})
    file(STRINGS ${source} mentions LIMIT_COUNT 1 REGEX WARPCHECK_SOURCE_DIR)
    if(mentions)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES
        COMPILE_DEFINITIONS WARPCHECK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
endfunction()

# Presets other than `dev` compile several sources of a target at a time (CMAKE_UNITY_BUILD),
# because most of their time goes into common headers and templates.
#
# warpcheck_alone(target FILES...): not together with other sources, because their names would
# clash.
function(warpcheck_alone target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# warpcheck_cold(target): its compile time matters, not its speed.
set(WARPCHECK_COLD_OPTIONS -O1 CACHE STRING "Options of sources whose speed does not matter")
function(warpcheck_cold target)
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:${WARPCHECK_COLD_OPTIONS}>")
endfunction()

# warpcheck_hot(target): its speed matters.  g++ would clear and copy objects of 128 bytes or more by
# `rep stos` and `rep movs`, which take 30 to 40 cycles to start.
function(warpcheck_hot target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  foreach(function memset memcpy)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-m${function}-strategy=vector_loop:512:noalign,libcall:-1:noalign>")
  endforeach()
endfunction()

# warpcheck_first_in_links(library): if several objects contain the same function, of a template for
# example, the linker keeps the first one's.  If unoptimised objects came first, the library would
# call their copies, so the library is named before them. (mold extracts an archive's members when
# they are needed, wherever the archive is; for ld.bfd the first place has no effect.)
function(warpcheck_first_in_links library)
  target_link_options(${library} INTERFACE $<BUILD_INTERFACE:$<TARGET_FILE:${library}>>)
endfunction()

# warpcheck_unoptimized(target): for tests, and for code that runs only briefly.  clang++ without
# optimisation takes less than half the time of g++ -O1 to compile it, and g++ -O0 is not faster
# than -O1.  Half of the rest would go into common headers, so those are precompiled.
set(WARPCHECK_TEST_COMPILER "" CACHE STRING "Compiler of tests and of what is not optimised, if not CMAKE_CXX_COMPILER")
function(warpcheck_compile_by_test_compiler target)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
    "${PROJECT_SOURCE_DIR}/cmake/compile_by;${WARPCHECK_TEST_COMPILER};${CMAKE_CXX_COMPILER};${CMAKE_CXX_COMPILER_LAUNCHER}")
  # The precompiled headers are used by libraries and executables.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-O0> $<$<COMPILE_LANGUAGE:CXX>:-g0> $<$<COMPILE_LANGUAGE:CXX>:-fPIC>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-warning-option> $<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-command-line-argument>)
endfunction()
function(warpcheck_unoptimized target)
  if(NOT WARPCHECK_TEST_COMPILER)
    warpcheck_cold(${target})
    return()
  endif()
  warpcheck_compile_by_test_compiler(${target})
  if(NOT TARGET warpcheck_common_headers)
    add_library(warpcheck_common_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/common_headers.cpp)
    warpcheck_compile_by_test_compiler(warpcheck_common_headers)
    # The templates that they instantiate are precompiled, too.
    target_compile_options(warpcheck_common_headers PRIVATE "SHELL:-Xclang -fpch-instantiate-templates"
      "SHELL:-Xclang -fno-pch-timestamp")  # same bytes each time, for a compiler cache
    target_link_libraries(warpcheck_common_headers PRIVATE
      warpcheck_options GTest::gtest fmt::fmt nlohmann_json::nlohmann_json)
    target_precompile_headers(warpcheck_common_headers PRIVATE
      <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstdlib> <cstring> <deque> <filesystem> <fstream>
      <functional> <iostream> <iterator> <map> <memory> <mutex> <optional> <random> <regex> <set> <span> <sstream>
      <stdexcept> <string> <string_view> <thread> <tuple> <unordered_map> <unordered_set> <utility> <variant>
      <vector> <fmt/format.h> <gtest/gtest.h> <nlohmann/json.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM warpcheck_common_headers)
endfunction()

# warpcheck_test(NAME [LONG] [APART suites...] [SOURCES files...] LINK libraries...): a GoogleTest
# executable; each of its suites is a test of ctest (discover_suites.cmake); directories below may
# add sources to it. LONG: optimised, because its own code runs long.  APART: suites whose tests
# each need a separate process.
function(warpcheck_test name)
  cmake_parse_arguments(arg "LONG" "" "APART;SOURCES;LINK" ${ARGN})
  add_executable(${name})
  warpcheck_sources(${name} ${arg_SOURCES})
  if(arg_LONG)
    warpcheck_cold(${name})
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  else()
    warpcheck_unoptimized(${name})
  endif()
  target_link_libraries(${name} PRIVATE warpcheck_options ${arg_LINK} GTest::gtest_main)
  set(discover ${PROJECT_SOURCE_DIR}/cmake/discover_suites.cmake)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_discover.cmake CONTENT
    "if(NOT EXISTS \"$<TARGET_FILE:${name}>\")
  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
  return()
endif()
if(\"$<TARGET_FILE:${name}>\" IS_NEWER_THAN \"${file}\" OR \"${discover}\" IS_NEWER_THAN \"${file}\"
    OR CMAKE_CURRENT_LIST_FILE IS_NEWER_THAN \"${file}\")
  include(\"${discover}\")
  warpcheck_discover_suites(\"$<TARGET_FILE:${name}>\" \"${file}\" \"${CMAKE_CURRENT_BINARY_DIR}\"
    \"${arg_APART}\")
endif()
include(\"${file}\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
    ${CMAKE_CURRENT_BINARY_DIR}/${name}_discover.cmake)
endfunction()
