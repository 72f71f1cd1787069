# The virtual GPU and the harness of another build of the same sources, WARPCHECK_PREBUILT, in place
# of vgpu/ and harness/: for a test of ci/oss-fuzz/build.sh that does not build everything again.
# They are not instrumented, and use GoogleTest.
function(warpcheck_prebuilt directory name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(archive ${WARPCHECK_PREBUILT}/${directory}/libwarpcheck_${name}.a)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "WARPCHECK_PREBUILT=${WARPCHECK_PREBUILT}: there is no ${archive}")
  endif()
  add_library(warpcheck_${name} STATIC IMPORTED GLOBAL)
  set_target_properties(warpcheck_${name} PROPERTIES IMPORTED_LOCATION ${archive})
  target_link_libraries(warpcheck_${name} INTERFACE warpcheck_options ${arg_LINK} fmt::fmt)
endfunction()

warpcheck_prebuilt(vgpu/ptx ptx LINK PkgConfig::zstd PkgConfig::lz4)
warpcheck_prebuilt(vgpu/program program LINK warpcheck_ptx)
warpcheck_prebuilt(vgpu/symbolic symbolic LINK warpcheck_program z3)
warpcheck_prebuilt(vgpu/machine machine LINK warpcheck_program ${WARPCHECK_ASMJIT})
warpcheck_prebuilt(vgpu/schedule schedule)
warpcheck_prebuilt(vgpu/check check LINK warpcheck_machine warpcheck_schedule PkgConfig::xxhash)
# Objects built by GCC read lines by the libbacktrace that comes with GCC.
execute_process(COMMAND g++ -print-file-name=libbacktrace.a
  OUTPUT_VARIABLE backtrace OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS ${backtrace})
  set(backtrace)
endif()
warpcheck_prebuilt(vgpu/cudart cudart LINK warpcheck_check warpcheck_cudart_cold PkgConfig::xxhash ${backtrace})
warpcheck_prebuilt(vgpu/cudart cudart_cold LINK warpcheck_cudart)
target_include_directories(warpcheck_cudart SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
warpcheck_prebuilt(harness draw LINK nlohmann_json::nlohmann_json)
warpcheck_prebuilt(harness harness
  LINK warpcheck_draw warpcheck_cudart warpcheck_check warpcheck_schedule PkgConfig::xxhash GTest::gtest)
warpcheck_prebuilt(harness rapidcheck LINK warpcheck_harness rapidcheck rapidcheck_gtest GTest::gtest)
warpcheck_prebuilt(harness pair_tests LINK warpcheck_harness warpcheck_rapidcheck)
warpcheck_prebuilt(harness reports LINK warpcheck_harness pugixml::pugixml)
