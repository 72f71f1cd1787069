# warpcheck_kernels(target FILES a.cu ... [OPTIONS -fmad=false ...] [INCLUDES directory ...]
#                   [RUNTIME library] [ARCHITECTURE 75] [SEPARATE] [TOGETHER count]):
# a library of kernels under test, each compiled twice from the same text.
#
#   as shipped     nvcc's ordinary host object; the PTX is in its fatbinary.
#   unoptimised    the text of `nvcc -ptx -G`, embedded beside it and handed, in a static
#                  constructor, to
#                    extern "C" void warpcheck_register_unoptimized(const char* text, size_t bytes)
#                  which the runtime library defines.  Kernels have the same mangled names in both.
#
# ARCHITECTURE is the oldest that nvcc supports, unless the kernels need a newer one. OPTIONS and
# INCLUDES apply to both builds, because an option that changes floating-point contraction in only
# one would make the builds disagree.  RUNTIME is the library that implements the CUDA runtime calls
# of the host code (default warpcheck::cudart); the real runtime is never linked.
#
# SEPARATE compiles with -rdc=true: files may call each other's device functions.
#
# TOGETHER compiles this many files at a time, because most of nvcc's time goes into their common
# headers; their names must not clash.
#
# `target` is an interface over the static library `target`_archive that links every object of it,
# so that registrations in static constructors are kept in any executable.
#
# Limits of nvcc that shape this file:
#   - CMake 3.25.1 does not know that nvcc 13 supports C++20, and drops or refuses CUDA_STANDARD
#     20; so the option is set below.
#   - nvcc writes absolute paths into `.file` and has no prefix map for device code.  They are made
#     relative to the repository in the embedded text; in the fatbinary they stay absolute, so code
#     that hashes or prints PTX must remove the prefix.
include_guard(GLOBAL)

set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)

# Shared by both builds.  NDEBUG would silence device assertions.
set(WARPCHECK_NVCC_OPTIONS -UNDEBUG -Xcompiler=-Wall,-Wextra,-Wshadow)
if(WARPCHECK_WERROR)
  list(APPEND WARPCHECK_NVCC_OPTIONS --Werror=all-warnings -Xcompiler=-Werror)
endif()

function(warpcheck_kernels target)
  cmake_parse_arguments(arg "SEPARATE" "RUNTIME;ARCHITECTURE;TOGETHER" "FILES;OPTIONS;INCLUDES" ${ARGN})
  if(NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpcheck_kernels(${target} FILES a.cu ... [OPTIONS ...] [INCLUDES ...] "
      "[RUNTIME ...] [SEPARATE] [TOGETHER ...])")
  endif()
  if(NOT arg_RUNTIME)
    set(arg_RUNTIME warpcheck::cudart)
  endif()
  if(NOT arg_ARCHITECTURE)
    set(arg_ARCHITECTURE 75)
  endif()

  if(arg_TOGETHER)
    warpcheck_batches(arg_FILES ${target} ${arg_TOGETHER} ${arg_FILES})
  endif()
  set(archive ${target}_archive)
  add_library(${archive} STATIC ${arg_FILES})
  set_target_properties(${archive} PROPERTIES
    CUDA_ARCHITECTURES ${arg_ARCHITECTURE}-virtual
    CUDA_STANDARD 20
    CUDA_RUNTIME_LIBRARY None
    UNITY_BUILD OFF
    CUDA_SEPARABLE_COMPILATION ${arg_SEPARATE}
    CUDA_RESOLVE_DEVICE_SYMBOLS ${arg_SEPARATE}
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${archive} PUBLIC ${PROJECT_SOURCE_DIR} ${arg_INCLUDES})
  target_include_directories(${archive} SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_options(${archive} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:${WARPCHECK_NVCC_OPTIONS};-lineinfo;${arg_OPTIONS}>)
  set(unoptimized_options ${arg_OPTIONS})
  if(arg_SEPARATE)
    list(APPEND unoptimized_options -rdc=true)
  endif()
  foreach(file ${arg_FILES})
    warpcheck_embed_unoptimized(${archive} ${file} ${arg_ARCHITECTURE}
      "${unoptimized_options}" "${arg_INCLUDES}")
  endforeach()

  # The device linker adds the toolkit's device runtime to every link.
  if(arg_SEPARATE)
    find_library(WARPCHECK_CUDADEVRT cudadevrt HINTS ${CUDAToolkit_LIBRARY_DIR} REQUIRED)
    target_link_libraries(${archive} INTERFACE ${WARPCHECK_CUDADEVRT})
  endif()

  # So that the runtime follows the archive on every link line.
  target_link_libraries(${archive} INTERFACE $<LINK_ONLY:${arg_RUNTIME}>)

  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,${archive}> ${arg_RUNTIME})
endfunction()

# warpcheck_batches(VARIABLE NAME COUNT FILES...): writes files NAME_0.cu, ... that include COUNT of FILES each.
function(warpcheck_batches variable name count)
  set(batches)
  list(LENGTH ARGN files_count)
  math(EXPR last "${files_count} - 1")
  foreach(first RANGE 0 ${last} ${count})
    list(SUBLIST ARGN ${first} ${count} files)
    list(TRANSFORM files REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"")
    list(JOIN files "\n" text)
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/${name}_${first}.cu)
    file(CONFIGURE OUTPUT ${batch} CONTENT "${text}\n" @ONLY)
    list(APPEND batches ${batch})
  endforeach()
  set(${variable} ${batches} PARENT_SCOPE)
endfunction()

# Adds to `target` an object that carries, and registers, the unoptimised PTX of `file`.
function(warpcheck_embed_unoptimized target file architecture options includes)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE
    OUTPUT_VARIABLE source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  set(ptx ${PROJECT_BINARY_DIR}/unoptimized/${target}/${name}.ptx)
  cmake_path(GET ptx PARENT_PATH directory)
  file(MAKE_DIRECTORY ${directory})
  set(WARPCHECK_INCLUDES)
  foreach(include ${includes})
    cmake_path(ABSOLUTE_PATH include BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND WARPCHECK_INCLUDES ${include})
  endforeach()
  list(TRANSFORM WARPCHECK_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)

  add_custom_command(
    OUTPUT ${ptx}
    COMMAND ${CMAKE_CUDA_COMPILER} -ptx -G -arch=compute_${architecture} -std=c++20
      ${WARPCHECK_NVCC_OPTIONS} ${options} -I${PROJECT_SOURCE_DIR} ${includes}
      -MD -MF ${ptx}.d -MT ${ptx} -o ${ptx} ${source}
    COMMAND sed -i "/^[[:space:]]*\\.file/s|\"${PROJECT_SOURCE_DIR}/|\"|" ${ptx}
    DEPENDS ${source}
    DEPFILE ${ptx}.d
    COMMENT "Unoptimised PTX of ${name}"
    VERBATIM)

  set(WARPCHECK_PTX ${ptx})
  set(WARPCHECK_SOURCE ${name})
  set(WARPCHECK_SOURCE_PATH ${source})
  list(JOIN options " " WARPCHECK_OPTIONS)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_unoptimized.cpp.in ${ptx}.cpp @ONLY)
  target_sources(${target} PRIVATE ${ptx}.cpp)
  set_source_files_properties(${ptx}.cpp PROPERTIES OBJECT_DEPENDS ${ptx})
endfunction()
