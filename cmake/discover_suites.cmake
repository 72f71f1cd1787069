# warpcheck_discover_suites(EXECUTABLE FILE DIRECTORY APART): writes FILE, which adds the tests of a
# GoogleTest executable to ctest: one entry "Suite" for each suite, because starting a process and
# ctest's own work take longer than most tests; for suites in the list APART one entry "Suite.Test"
# for each test.  ctest includes this file and calls it before the first run of a new executable.
# Suites with many tests begin first, so that the last suite to run is short.
#
# A skipped test with an entry of its own is reported as skipped.  In a suite with a common entry it
# would go unnoticed, so it fails there: put its suite into APART.
macro(warpcheck_add_entry name filter cost where_skipped)
  string(APPEND text "add_test([==[${name}]==] \"${executable}\" [==[--gtest_filter=${filter}]==])\n"
    "set_tests_properties([==[${name}]==] PROPERTIES WORKING_DIRECTORY \"${directory}\" TIMEOUT 600\n"
    "  COST ${cost} ${where_skipped} [==[\\[  SKIPPED \\]]==])\n")
endmacro()

function(warpcheck_discover_suites executable file directory apart)
  execute_process(COMMAND ${executable} --gtest_list_tests WORKING_DIRECTORY ${directory}
    OUTPUT_VARIABLE listed RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${executable} --gtest_list_tests: ${status}")
  endif()
  # Values of parameters may contain characters that are special in a list.
  string(REGEX REPLACE " +#[^\n]*" "" listed "${listed}")
  string(REGEX REPLACE "[][;]" "_" listed "${listed}")
  string(REPLACE "\n" ";" listed "${listed}")
  set(text)
  set(suites)
  foreach(line IN LISTS listed)
    if(line MATCHES "^([^ ]+)\\.$")
      set(suite ${CMAKE_MATCH_1})
      list(APPEND suites ${suite})
      set(count_${suite} 0)
      list(FIND apart ${suite} is_apart)  # ctest sets no policies, and so has no IN_LIST
    elseif(line MATCHES "^  ([^ ]+)$")
      math(EXPR count_${suite} "${count_${suite}} + 1")
      if(NOT is_apart EQUAL -1)
        warpcheck_add_entry(${suite}.${CMAKE_MATCH_1} ${suite}.${CMAKE_MATCH_1} 1 SKIP_REGULAR_EXPRESSION)
      endif()
    endif()
  endforeach()
  foreach(suite IN LISTS suites)
    list(FIND apart ${suite} is_apart)
    if(is_apart EQUAL -1)
      warpcheck_add_entry(${suite} ${suite}.* ${count_${suite}} FAIL_REGULAR_EXPRESSION)
    endif()
  endforeach()
  file(WRITE ${file} "${text}")
endfunction()
