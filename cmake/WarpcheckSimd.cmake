# warpcheck_simd_sources(target FILES...): compiles each file once per instruction set.  Several
# directories may add files to one target.
#
# The copies are in different namespaces (WARPCHECK_SIMD: baseline, avx2, avx512) and are selected
# at run time, so a build runs on any x86-64.  A file compiled this way must not define or
# instantiate inline functions of other headers that could be emitted out of line: the linker would
# keep one copy for all.
set(WARPCHECK_SIMD_LEVELS baseline avx2 avx512)
set(WARPCHECK_SIMD_FLAGS_baseline -march=x86-64)
set(WARPCHECK_SIMD_FLAGS_avx2 -march=x86-64-v3)
set(WARPCHECK_SIMD_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)

# The levels that this host can run and does not select by itself: tests run with them as well.
set(WARPCHECK_OTHER_SIMD_LEVELS baseline)
file(STRINGS /proc/cpuinfo host_flags REGEX "^flags.* avx512vl( |$)" LIMIT_COUNT 1)
if(host_flags)
  list(APPEND WARPCHECK_OTHER_SIMD_LEVELS avx2)
endif()

function(warpcheck_simd_sources target)
  foreach(level ${WARPCHECK_SIMD_LEVELS})
    if(TARGET ${target}_${level})
      target_sources(${target}_${level} PRIVATE ${ARGN})
      continue()
    endif()
    add_library(${target}_${level} OBJECT ${ARGN})
    target_link_libraries(${target}_${level} PRIVATE warpcheck_options)
    target_compile_options(${target}_${level} PRIVATE
      ${WARPCHECK_SIMD_FLAGS_${level}} -O3 -fno-math-errno -fno-trapping-math)
    target_compile_definitions(${target}_${level} PRIVATE WARPCHECK_SIMD=${level})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${level}>)
  endforeach()
endfunction()
