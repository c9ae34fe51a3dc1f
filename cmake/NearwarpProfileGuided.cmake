# NW_PGO: the code that steps simulated machines, compiled with a profile of itself.
#
# An instrumented copy of it, in a program of its own, runs a few small workloads at build time; what
# is linked into nearwarp and the benchmark of timing is compiled with what that counted. All of it
# is one source file, with the models in headers. Tests are linked with the plain one.
option(NW_PGO "Compile the code that steps machines with a profile of itself" OFF)
if(NOT NW_PGO)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "NW_PGO is ON, the compiler is ${CMAKE_CXX_COMPILER_ID} - "
    "it takes GCC; or set NW_PGO=OFF")
endif()

add_library(nw_executor_counting OBJECT kernels/cpu_executor.cpp)
target_link_libraries(nw_executor_counting PRIVATE nw_flags Threads::Threads)
target_compile_options(nw_executor_counting PRIVATE -fprofile-generate)
# A profile has its object's name, which a unity build would choose.
set_target_properties(nw_executor_counting PROPERTIES UNITY_BUILD OFF)
add_executable(nearwarp_counting host/cli/main.cpp)
# Before the libraries, of which one has the plain code.
target_link_libraries(nearwarp_counting PRIVATE nw_executor_counting nw_cli gcov)

# GCC looks for a profile beside the object and under its name.
set(nw_counted
  ${PROJECT_BINARY_DIR}/CMakeFiles/nw_executor_counting.dir/kernels/cpu_executor.cpp.gcda)
set(nw_profile
  ${PROJECT_BINARY_DIR}/CMakeFiles/nw_executor_trained.dir/trained_executor.cpp.gcda)
add_custom_command(OUTPUT ${nw_profile}
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:nearwarp_counting> -DCOUNTED=${nw_counted}
    -DPROFILE=${nw_profile} -P ${PROJECT_SOURCE_DIR}/cmake/CountSteps.cmake
  DEPENDS nearwarp_counting ${PROJECT_SOURCE_DIR}/cmake/CountSteps.cmake
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Running small workloads for a profile"
  VERBATIM)

# A source of its own, since what an object depends on is its source's property.
set(nw_trained ${PROJECT_BINARY_DIR}/trained_executor.cpp)
file(CONFIGURE OUTPUT ${nw_trained} CONTENT "#include \"kernels/cpu_executor.cpp\"\n")
set_source_files_properties(${nw_trained} PROPERTIES OBJECT_DEPENDS ${nw_profile})
add_library(nw_executor_trained OBJECT ${nw_trained})
target_link_libraries(nw_executor_trained PRIVATE nw_flags Threads::Threads)
set_target_properties(nw_executor_trained PROPERTIES UNITY_BUILD OFF)
target_compile_options(nw_executor_trained PRIVATE
  -fprofile-use -fprofile-partial-training -Wno-missing-profile
  # The plain copy has been warned of; here GCC also warns of what the profile does not have.
  -w)
foreach(program nearwarp timing_bench)
  if(TARGET ${program})
    target_link_libraries(${program} PRIVATE nw_executor_trained)
  endif()
endforeach()
