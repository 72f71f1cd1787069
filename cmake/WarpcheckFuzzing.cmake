# libFuzzer, and one fuzz target for each pair.
#
#   warpcheck::libfuzzer       its driver without a main, for the `fuzz` command; it comes with
#                              clang, and g++ links it just as well
#   WARPCHECK_FUZZING_ENGINE   what gives fuzz targets their main: libFuzzer's own, unless a fuzzing
#                              service or AFL++ passes another
include_guard(GLOBAL)

function(warpcheck_find_libfuzzer variable name)
  if(DEFINED CACHE{${variable}} AND ${variable})
    return()
  endif()
  find_program(WARPCHECK_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
  if(WARPCHECK_CLANG)
    execute_process(COMMAND ${WARPCHECK_CLANG} --print-resource-dir
      OUTPUT_VARIABLE resources OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  # The runtime may be installed without the compiler.
  file(GLOB runtimes /usr/lib/llvm-*/lib/clang/*)
  list(SORT runtimes COMPARE NATURAL ORDER DESCENDING)
  foreach(resources ${resources} ${runtimes})
    find_library(${variable} DOC "libFuzzer"
      NAMES libclang_rt.${name}-${CMAKE_SYSTEM_PROCESSOR}.a libclang_rt.${name}.a
      PATHS ${resources}/lib/linux ${resources}/lib/${CMAKE_SYSTEM_PROCESSOR}-pc-linux-gnu
        ${resources}/lib/${CMAKE_SYSTEM_PROCESSOR}-unknown-linux-gnu
      NO_DEFAULT_PATH)
  endforeach()
  if(NOT ${variable})
    message(FATAL_ERROR "libFuzzer (libclang_rt.${name}) was not found: install clang and its "
      "compiler runtime (Debian: clang libclang-rt-dev), or set ${variable}")
  endif()
endfunction()

warpcheck_find_libfuzzer(WARPCHECK_FUZZER_NO_MAIN fuzzer_no_main)
warpcheck_find_libfuzzer(WARPCHECK_FUZZING_ENGINE fuzzer)
add_library(warpcheck::libfuzzer STATIC IMPORTED)
set_target_properties(warpcheck::libfuzzer PROPERTIES
  IMPORTED_LOCATION ${WARPCHECK_FUZZER_NO_MAIN})

# warpcheck_fuzz_target(PAIR LIBRARY): the program `fuzz_PAIR`; LIBRARY contains the pair.
function(warpcheck_fuzz_target pair library)
  set(WARPCHECK_PAIR ${pair})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fuzz_target.cpp.in fuzz_${pair}.cpp @ONLY)
  add_executable(fuzz_${pair} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/fuzz_${pair}.cpp)
  set_target_properties(fuzz_${pair} PROPERTIES CUDA_RUNTIME_LIBRARY None)
  target_link_libraries(fuzz_${pair} PRIVATE
    warpcheck::fuzz_standalone ${library} ${WARPCHECK_FUZZING_ENGINE} Threads::Threads)
endfunction()

# warpcheck_fuzz_targets_of(LIBRARY [TARGET]): a program for every KERNEL_PAIR in the sources of
# LIBRARY_archive, so that none is forgotten; TARGET (default fuzz_targets) builds all of them. The
# name of a macro that declares pairs ends in KERNEL_PAIR.
function(warpcheck_fuzz_targets_of library)
  set(all fuzz_targets)
  if(ARGC GREATER 1)
    set(all ${ARGV1})
  endif()
  if(NOT TARGET ${all})
    add_custom_target(${all})
  endif()
  get_target_property(sources ${library}_archive SOURCES)
  get_target_property(directory ${library}_archive SOURCE_DIR)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory})
    if(NOT EXISTS ${source})
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} declarations REGEX "^[A-Z_]*KERNEL_PAIR\\(")
    foreach(declaration ${declarations})
      string(REGEX REPLACE "^[A-Z_]*KERNEL_PAIR\\(([A-Za-z0-9_]+),.*" "\\1" pair "${declaration}")
      warpcheck_fuzz_target(${pair} ${library})
      add_dependencies(${all} fuzz_${pair})
    endforeach()
  endforeach()
endfunction()

# Fuzz targets of the project's own readers, with sanitizers and feedback, need Clang, whatever
# compiler builds the rest.  ci/sanitize builds them; other builds run their corpora once
# (fuzz/targets).
find_program(WARPCHECK_CLANGXX NAMES clang++ clang++-14 clang++-15 clang++-16 clang++-17)
option(WARPCHECK_READER_FUZZERS "Compile the readers once more, with Clang, libFuzzer and sanitizers" OFF)
if(WARPCHECK_READER_FUZZERS AND NOT WARPCHECK_CLANGXX)
  message(FATAL_ERROR "WARPCHECK_READER_FUZZERS needs clang++; ci/setup installs it")
endif()

# warpcheck_instrumented_fuzzer(NAME SOURCES files... [ALONE files...] LIBRARIES names...): the
# program NAME, whose sources are compiled once more with libFuzzer and sanitizers, ten at a time,
# except those that must be compiled alone.
function(warpcheck_instrumented_fuzzer name)
  cmake_parse_arguments(arg "" "" "SOURCES;ALONE;LIBRARIES" ${ARGN})
  set(flags -std=c++20 -O1 -g1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
    -DWARPCHECK_NO_GTEST)
  list(REMOVE_ITEM arg_SOURCES ${arg_ALONE})
  list(LENGTH arg_SOURCES count)
  set(batches)
  foreach(begin RANGE 0 ${count} 10)
    if(begin LESS count)
      list(SUBLIST arg_SOURCES ${begin} 10 batch)
      list(JOIN batch "|" batch)
      list(APPEND batches "${batch}")
    endif()
  endforeach()
  set(index 0)
  set(objects)
  foreach(batch ${batches} ${arg_ALONE})
    string(REPLACE "|" ";" batch "${batch}")
    set(text)
    foreach(source ${batch})
      string(APPEND text "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
    endforeach()
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${name}_${index}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
    add_custom_command(
      OUTPUT ${unit}.o
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${WARPCHECK_CLANGXX} ${flags}
        -I${PROJECT_SOURCE_DIR} -isystem ${CUDAToolkit_INCLUDE_DIRS}
        -MD -MF ${unit}.d -MT ${unit}.o -c ${unit} -o ${unit}.o
      DEPENDS ${unit}
      DEPFILE ${unit}.d
      COMMENT "Building ${name}, part ${index}, with libFuzzer and sanitizers"
      VERBATIM)
    list(APPEND objects ${unit}.o)
    math(EXPR index "${index} + 1")
  endforeach()
  list(TRANSFORM arg_LIBRARIES PREPEND -l)
  add_custom_command(
    OUTPUT ${name}
    COMMAND ${WARPCHECK_CLANGXX} ${flags} ${objects} ${arg_LIBRARIES}
      -o ${CMAKE_CURRENT_BINARY_DIR}/${name}
    DEPENDS ${objects}
    COMMENT "Linking ${name}"
    VERBATIM)
  add_custom_target(${name}_target ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()
