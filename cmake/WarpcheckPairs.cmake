# warpcheck_add_pairs(target FILES kernel.cu ... pair.cpp ... [OPTIONS nvcc options ...]
#                     [INCLUDES directory ...] [LINK libraries ...]):
# everything that warpcheck builds from kernels and their pairs, for a user's project.
#
#   target          the command line: list, hunt, check, replay, shrink, fuzz
#   target_test     the pairs as a GoogleTest suite, registered with ctest
#   fuzz_PAIR       a fuzz target for each pair, built by target_fuzz_targets
#
# .cu files are kernels under test: OPTIONS and INCLUDES apply to both of their builds
# (WarpcheckKernels.cmake).  All other files are pairs and their helpers; LINK is for them.
include_guard(GLOBAL)

function(warpcheck_add_pairs target)
  cmake_parse_arguments(arg "" "" "FILES;OPTIONS;INCLUDES;LINK" ${ARGN})
  set(pairs ${arg_FILES})
  list(FILTER pairs EXCLUDE REGEX "\\.cu$")
  if(NOT pairs OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpcheck_add_pairs(${target} FILES kernel.cu ... pair.cpp ... "
      "[OPTIONS ...] [INCLUDES ...] [LINK ...]): FILES need a file with a KERNEL_PAIR")
  endif()

  set(kernels ${arg_FILES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  if(kernels)
    warpcheck_kernels(${target}_kernels
      FILES ${kernels} OPTIONS ${arg_OPTIONS} INCLUDES ${arg_INCLUDES})
    set(kernels ${target}_kernels)
  endif()

  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(WARPCHECK_PROGRAM ${target})
  configure_file(${here}/project.cpp.in ${target}_project.cpp @ONLY)
  add_library(${target}_pairs_archive STATIC
    ${pairs} ${CMAKE_CURRENT_BINARY_DIR}/${target}_project.cpp)
  target_include_directories(${target}_pairs_archive PRIVATE ${arg_INCLUDES})
  # The reference must round as written.
  target_compile_options(${target}_pairs_archive PRIVATE -ffp-contract=off)
  target_link_libraries(${target}_pairs_archive
    PUBLIC warpcheck::harness ${kernels} ${arg_LINK})
  # With every object: pairs register themselves in static constructors.
  add_library(${target}_pairs INTERFACE)
  target_link_libraries(${target}_pairs
    INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,${target}_pairs_archive>)

  add_executable(${target} ${here}/pairs_main.cpp)
  target_link_libraries(${target} PRIVATE warpcheck::cli ${target}_pairs warpcheck::campaign warpcheck::fuzz)
  add_executable(${target}_test ${here}/pairs_test_main.cpp)
  target_link_libraries(${target}_test PRIVATE warpcheck::pair_tests ${target}_pairs)
  set_target_properties(${target} ${target}_test PROPERTIES CUDA_RUNTIME_LIBRARY None)
  gtest_discover_tests(${target}_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600)
  warpcheck_fuzz_targets_of(${target}_pairs ${target}_fuzz_targets)
endfunction()
