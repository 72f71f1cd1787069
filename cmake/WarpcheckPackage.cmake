# The Debian package: `cpack -G DEB` in the build directory makes warpcheck_VERSION_ARCH.deb of the
# files of `cmake --install` (docs/use/ci.md).  nvcc is not a dependency: the CUDA Toolkit is no
# package of Debian's, and each project chooses its own.
include(GNUInstallDirs)

# The directories in which shells find completion.
set(completions)
foreach(shell_file "bash bash-completion/completions/warpcheck" "zsh zsh/vendor-completions/_warpcheck"
                   "fish fish/vendor_completions.d/warpcheck.fish")
  string(REPLACE " " ";" shell_file ${shell_file})
  list(GET shell_file 0 shell)
  list(GET shell_file 1 file)
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH directory)
  set(script ${PROJECT_BINARY_DIR}/completion/${shell}/${name})
  add_custom_command(
    OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completion/${shell}
    COMMAND warpcheck completion ${shell} > ${script}
    DEPENDS warpcheck
    VERBATIM)
  list(APPEND completions ${script})
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${directory})
endforeach()
add_custom_target(completions ALL DEPENDS ${completions})
install(FILES LICENSE docs/changelog.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/warpcheck)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME warpcheck)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the authors of warpcheck")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fuzz and correctness harness for CUDA kernels, with a virtual GPU")
set(CPACK_PACKAGE_DESCRIPTION
  "Pairs a CUDA kernel with a sequential reference, searches inputs and interleavings, and explains, "
  "shrinks and replays what fails. Runs CUDA programs without a GPU, every access checked.")
list(JOIN CPACK_PACKAGE_DESCRIPTION "" CPACK_PACKAGE_DESCRIPTION)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# dpkg-shlibdeps finds the libraries for running; these are needed for building pairs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/warpcheck)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "g++, cmake (>= 3.24), make, pkg-config, libclang-rt-dev, libfmt-dev, libcli11-dev, "
  "libgtest-dev, librapidcheck-dev, libpugixml-dev, nlohmann-json3-dev, "
  "libarchive-dev, libsqlite3-dev, libxxhash-dev, libzstd-dev, liblz4-dev, libdw-dev, libedit-dev, "
  "libz3-dev")
if(WARPCHECK_ASMJIT)
  list(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libasmjit-dev")
endif()
list(JOIN CPACK_DEBIAN_PACKAGE_DEPENDS "" CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_STRIP_FILES ON)
include(CPack)
