# Helpers that every folder uses, so that a target is one line.

# Libraries that are not hot are compiled with this, which takes compilers a quarter less in release builds. With
# sanitizers, whose checks take them two or three times as long with optimisation (GCC 12), it is not
# optimised at all: building takes most of the time of a check of everything.
set(NW_COLD_FLAGS $<$<CONFIG:Release>:-O1>)
if(NW_SANITIZE)
  set(NW_COLD_FLAGS -O0)
endif()
# Tests spend their time in libraries; those that the thread sanitizer sees in models too.
set(NW_TEST_FLAGS -O1)
if(NW_SANITIZE MATCHES "undefined")
  list(APPEND NW_TEST_FLAGS ${NW_COLD_FLAGS})
endif()

# nw_test_headers(): makes the program nw_test_headers, whose precompiled headers are those of all tests: each of a
# hundred programs takes seconds for them. It is compiled as they are; fmt tells users of its library with a macro,
# so that all of them have it.
function(nw_test_headers)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")  # written if it is new
  add_executable(nw_test_headers EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(nw_test_headers PRIVATE nw_flags fmt::fmt nlohmann_json::nlohmann_json GTest::gtest)
  target_compile_options(nw_test_headers PRIVATE ${NW_TEST_FLAGS})
  target_precompile_headers(nw_test_headers PRIVATE
    <gtest/gtest.h> <fmt/format.h> <nlohmann/json.hpp> <filesystem> <fstream> <random> <regex> <thread>)
endfunction()

# nw_alone(SOURCES...): these are compiled by themselves where others are joined (CMAKE_UNITY_BUILD): they
# have names in common with other sources of their target, or are so hot that nothing beside them may
# change what a compiler makes of them.
function(nw_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# nw_embed_texts(VARIABLE NAME NAMESPACE [TABLE SYMBOL] SYMBOL=FILE...): sets VARIABLE to a source, NAME.cpp, made at
# build time and defines the text of each file as const char* const NAMESPACE::SYMBOL. Files: from the current
# directory on. With TABLE an array of const char* has the files' names, each followed by its text, and a nullptr at the
# end. One source for many: starting a program for each costs more than what it does.
function(nw_embed_texts variable name namespace)
  cmake_parse_arguments(ARG "" "TABLE" "" ${ARGN})
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(texts)
  set(files)
  foreach(pair IN LISTS ARG_UNPARSED_ARGUMENTS)
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 symbol)
    list(GET pair 1 file)
    list(APPEND texts ${symbol}=${CMAKE_CURRENT_SOURCE_DIR}/${file})
    list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DNAMESPACE=${namespace} -DTABLE=${ARG_TABLE}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake ${texts}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    VERBATIM)
  set(${variable} ${embedded} PARENT_SCOPE)
endfunction()

# nw_library(NAME SOURCES... [LIBS ...] [HOT]): HOT where a run's time goes.
function(nw_library name)
  cmake_parse_arguments(ARG "HOT" "" "LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC nw_flags ${ARG_LIBS})
  set_property(GLOBAL APPEND PROPERTY NW_LIBRARIES ${name})
  if(NOT ARG_HOT)
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${NW_COLD_FLAGS}>")
  endif()
endfunction()

add_custom_target(nw_tests_threads)
add_custom_target(nw_tests_quick)
add_custom_target(nw_tests_documents)

# nw_test(NAME SOURCES... [APPLICATIONS] [OPTIMISED] [COST N] [LIBS ...] [LABELS ...] [THREADS PATTERN...]
#         [REPEATS PATTERN...]):
# one executable, each TEST a ctest test (but for NW_WHOLE_TESTS).
# Labels: cpu (if none is given), cuda, slow (seconds, or minutes with sanitizers), thorough. APPLICATIONS: it uses
# the simulated GPU, which CUDA_VISIBLE_DEVICES of the environment must not hide.
# Programs with a source that names documents have the label documents (target nw_tests_documents).
# Where programs are run whole, some builds are shown some of their tests, by patterns of GoogleTest:
#   THREADS: those that run several threads, for the thread sanitizer; label and target are nw_tests_threads' then.
#     A program of which that is all (THREADS *) is run under sanitizers alone: NW_QUICK_TESTS=OFF leaves it out.
#   REPEATS: those that execute for long what shorter ones beside them execute, for the address sanitizer to leave out.
# Programs that are neither slow nor thorough nor cuda are quick (target nw_tests_quick). They find the same with
# optimisation, unless they are OPTIMISED. NW_QUICK_TESTS=OFF leaves them out, but for REPEATS, which the address
# sanitizer has left out.
# COST: about how many seconds it takes in the build in which it takes longest, where these are more than 30. ctest
# begins with the longest, so that nothing long is left for the end, when there is nothing to run beside it.
function(nw_test name)
  cmake_parse_arguments(ARG "APPLICATIONS;OPTIMISED" "COST" "LIBS;LABELS;THREADS;REPEATS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS cpu)
  endif()
  set(quick ON)
  foreach(label IN ITEMS slow thorough cuda)
    if(label IN_LIST ARG_LABELS)
      set(quick OFF)
    endif()
  endforeach()
  set(left_out)
  if(NOT NW_QUICK_TESTS AND NOT ARG_OPTIMISED)
    if((quick AND NOT ARG_REPEATS) OR ARG_THREADS STREQUAL "*")
      set(left_out EXCLUDE_FROM_ALL)
    endif()
  endif()
  set(environment)
  if(ARG_APPLICATIONS)
    set(environment ENVIRONMENT_MODIFICATION CUDA_VISIBLE_DEVICES=unset:)
  endif()
  set(patterns)
  set(but)
  if(NW_SANITIZE MATCHES "thread")
    list(JOIN ARG_THREADS ":" patterns)
  elseif(NW_SANITIZE MATCHES "address")
    list(JOIN ARG_REPEATS ":" patterns)
    set(but "-")
  elseif(quick AND NOT NW_QUICK_TESTS AND NOT ARG_OPTIMISED)
    list(JOIN ARG_REPEATS ":" patterns)
  endif()
  if(ARG_THREADS)
    list(APPEND ARG_LABELS threads)
  endif()
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      file(STRINGS ${source} documents REGEX "[\"/]docs/|[A-Z]\\.md\"" LIMIT_COUNT 1)
      if(documents AND NOT "documents" IN_LIST ARG_LABELS)
        list(APPEND ARG_LABELS documents)
      endif()
    endif()
  endforeach()
  add_executable(${name} ${left_out} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nw_flags ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE NW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${NW_TEST_FLAGS}>")
  target_link_options(${name} PRIVATE ${NW_TEST_LINK_OPTIONS})
  if(TARGET nw_test_headers)
    target_compile_definitions(${name} PRIVATE FMT_SHARED)
    target_precompile_headers(${name} REUSE_FROM nw_test_headers)
  endif()
  if(ARG_THREADS)
    add_dependencies(nw_tests_threads ${name})
  endif()
  if(quick)
    add_dependencies(nw_tests_quick ${name})
  endif()
  if("documents" IN_LIST ARG_LABELS)
    add_dependencies(nw_tests_documents ${name})
  endif()
  if(left_out)
    return()
  endif()
  # Programs keep what several of their tests want, and begin slowly with a sanitizer. Those that need
  # a device stay apart where the backend is built, so that what is skipped without one is counted.
  # (ctest reports a program that is known test by test and was not built as a failure without labels.)
  if(NW_WHOLE_TESTS AND NOT (NW_HAVE_CUDA AND "cuda" IN_LIST ARG_LABELS))
    if(patterns)
      list(APPEND environment ENVIRONMENT "GTEST_FILTER=${but}${patterns}")
      add_test(NAME Patterns.${name} COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${name}> -DPATTERNS=${patterns} -P ${PROJECT_SOURCE_DIR}/cmake/CheckPatterns.cmake)
      set_tests_properties(Patterns.${name} PROPERTIES LABELS "${ARG_LABELS}")
    endif()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 3600 LABELS "${ARG_LABELS}" ${environment})
    if(ARG_COST)
      set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
    elseif(NOT quick)
      set_tests_properties(${name} PROPERTIES COST 30)
    endif()
    return()
  endif()
  gtest_discover_tests(${name} PROPERTIES TIMEOUT 600 ${environment} DISCOVERY_TIMEOUT 60)
  # gtest_discover_tests flattens lists among the properties; so the labels are set afterwards.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${labels_file} "foreach(test IN LISTS ${name}_TESTS)
  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${ARG_LABELS}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()

# nw_benchmark(NAME SOURCES... [LIBS ...])
function(nw_benchmark name)
  if(NOT NW_BUILD_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nw_flags ${ARG_LIBS} benchmark::benchmark)
  target_compile_definitions(${name} PRIVATE NW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()
