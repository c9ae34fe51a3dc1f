# Does every pattern name a test of the program? Run as a script:
#   cmake -DPROGRAM=FILE -DPATTERNS=A:B:... -P CheckPatterns.cmake
string(REPLACE ":" ";" patterns "${PATTERNS}")
set(unknown)
foreach(pattern IN LISTS patterns)
  execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${pattern}
    OUTPUT_VARIABLE tests RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} does not list its tests (${status})")
  endif()
  if(NOT tests MATCHES "\n +[^ \n]")
    list(APPEND unknown ${pattern})
  endif()
endforeach()
if(unknown)
  list(JOIN unknown ", " unknown)
  message(FATAL_ERROR "no test of ${PROGRAM} is called ${unknown} - see nw_test() in its folder's CMakeLists.txt")
endif()
