# What `cmake --install` copies, for find_package(warpcheck) in other projects:
#
#   bin/warpcheck                 the command line with this project's own pairs; `warpcheck new`
#   share/man/man1/warpcheck.1    its manual page
#   include/warpcheck/            headers; <warpcheck/warpcheck.hpp> has all that a pair needs
#   lib/, lib/cmake/warpcheck/    libraries, and the functions that add pairs and kernels
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(targets)
foreach(name ${warpcheck_libraries})
  set_target_properties(warpcheck_${name} PROPERTIES EXPORT_NAME ${name})
  list(APPEND targets warpcheck_${name})
endforeach()

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/warpcheck)
install(TARGETS warpcheck RUNTIME)
install(FILES ${PROJECT_BINARY_DIR}/warpcheck.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(TARGETS ${targets} EXPORT warpcheckTargets
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/warpcheck)
install(EXPORT warpcheckTargets NAMESPACE warpcheck:: DESTINATION ${package_directory})

install(DIRECTORY cli harness vgpu model fuzz campaign
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpcheck
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def"
  PATTERN "cases" EXCLUDE PATTERN "*_corpus" EXCLUDE PATTERN "testdata" EXCLUDE
  PATTERN "litmus" EXCLUDE PATTERN "targets" EXCLUDE)
install(FILES harness/warpcheck.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpcheck)

configure_package_config_file(cmake/warpcheckConfig.cmake.in
  ${PROJECT_BINARY_DIR}/warpcheckConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpcheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/warpcheckConfig.cmake ${PROJECT_BINARY_DIR}/warpcheckConfigVersion.cmake
  cmake/WarpcheckFuzzing.cmake cmake/WarpcheckKernels.cmake cmake/WarpcheckPairs.cmake
  cmake/embed_unoptimized.cpp.in cmake/fuzz_target.cpp.in cmake/project.cpp.in
  cmake/pairs_main.cpp cmake/pairs_test_main.cpp
  DESTINATION ${package_directory})
