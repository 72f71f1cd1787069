# The virtual GPU of another build of the same sources, WARPCHECK_PREBUILT, in place of vgpu/: for a
# test of ci/oss-fuzz/build.sh that cannot wait for a second build of all.  It is not instrumented.
function(warpcheck_prebuilt name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(archive ${WARPCHECK_PREBUILT}/vgpu/${name}/libwarpcheck_${name}.a)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "WARPCHECK_PREBUILT=${WARPCHECK_PREBUILT}: there is no ${archive}")
  endif()
  add_library(warpcheck_${name} STATIC IMPORTED GLOBAL)
  set_target_properties(warpcheck_${name} PROPERTIES IMPORTED_LOCATION ${archive})
  target_link_libraries(warpcheck_${name} INTERFACE warpcheck_options ${arg_LINK} fmt::fmt)
endfunction()

warpcheck_prebuilt(ptx LINK PkgConfig::zstd PkgConfig::lz4)
warpcheck_prebuilt(program LINK warpcheck_ptx)
warpcheck_prebuilt(machine LINK warpcheck_program ${WARPCHECK_ASMJIT})
warpcheck_prebuilt(schedule)
warpcheck_prebuilt(check LINK warpcheck_machine warpcheck_schedule PkgConfig::xxhash)
# What GCC built reads lines by the libbacktrace that comes with GCC.
execute_process(COMMAND g++ -print-file-name=libbacktrace.a
  OUTPUT_VARIABLE backtrace OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS ${backtrace})
  set(backtrace)
endif()
warpcheck_prebuilt(cudart LINK warpcheck_check PkgConfig::xxhash ${backtrace})
target_include_directories(warpcheck_cudart SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
