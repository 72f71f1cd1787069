# Language standards, warnings and build types for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(WARPCHECK_WERROR "Treat warnings as errors" ON)

add_library(warpcheck_options INTERFACE)
target_include_directories(warpcheck_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
set(warpcheck_warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -ffp-contract=off $<$<BOOL:${WARPCHECK_WERROR}>:-Werror>)
target_compile_options(warpcheck_options INTERFACE
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:${warpcheck_warnings}>>")
# Of those who link an installed copy; this project sets CMAKE_CXX_STANDARD above.
target_compile_features(warpcheck_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)

# Also for executables that only link kernels: CMake would add the real CUDA runtime to them.
set(CMAKE_CUDA_RUNTIME_LIBRARY None)

# WARPCHECK_SOURCE_DIR for those who need it alone: all other files compile to the same objects in
# every checkout, and a compiler cache serves them.
function(warpcheck_name_source_dir)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_DEFINITIONS WARPCHECK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# warpcheck_test(NAME [JOINED] SOURCES... LINK libraries...): a GoogleTest executable, discovered by
# ctest.
# JOINED: its sources are compiled four at a time, as half of their time goes into common headers.
function(warpcheck_test name)
  cmake_parse_arguments(arg "JOINED" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_JOINED)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  endif()
  target_link_libraries(${name} PRIVATE warpcheck_options ${arg_LINK} GTest::gtest_main)
  foreach(source ${arg_SOURCES})
    file(STRINGS ${source} mentions LIMIT_COUNT 1 REGEX WARPCHECK_SOURCE_DIR)
    if(mentions)
      warpcheck_name_source_dir(${source})
    endif()
  endforeach()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600)
endfunction()
