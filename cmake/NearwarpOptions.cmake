# Build options, language standard, warnings and sanitizers.
set(NW_CUDA "AUTO" CACHE STRING "CUDA backend: AUTO (if a toolkit is found), ON, OFF")
set_property(CACHE NW_CUDA PROPERTY STRINGS AUTO ON OFF)
set(NW_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(NW_MARCH "x86-64-v3" CACHE STRING "Instruction set of the CPU code (-march); empty for the compiler's default")
option(NW_BUILD_TESTS "Build the tests" ON)
option(NW_BUILD_BENCHMARKS "Build the benchmarks" ON)
option(NW_WHOLE_TESTS "Each test program is one test of ctest, not each of its tests: all of them are run in less time" OFF)
option(NW_QUICK_TESTS "Build the tests that find no more with optimisation than with the address sanitizer" ON)
option(NW_WERROR "Treat warnings as errors" OFF)
option(NW_DEBUG_ASSERTS "Check internal contracts at run time" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# One interface target carries every flag that all of nearwarp shares.
add_library(nw_flags INTERFACE)
target_include_directories(nw_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(nw_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-unknown-pragmas -fopenmp-simd -ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${NW_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${NW_MARCH}>>:-march=${NW_MARCH}>)
# GCC 12 warns about std::string's own memcpy where it inlines concatenations (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(nw_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# A compiler of GCC's looks for garbage from 128 MB on, which takes a tenth of its time. With a gigabyte it takes
# half as much memory again, at most 1.5 GB.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(nw_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()
if(CMAKE_UNITY_BUILD)  # but for the shadows of other files
  target_compile_options(nw_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow$<$<CXX_COMPILER_ID:GNU>:$<SEMICOLON>-Wshadow=local>>)
endif()
if(NW_DEBUG_ASSERTS)
  target_compile_definitions(nw_flags INTERFACE NW_DEBUG_ASSERTS=1)
endif()
if(NW_SANITIZE)
  # Checks that cost more than a third of the time in which the models are compiled. The address sanitizer finds
  # null pointers, overruns, and addresses that wrap, where they are used, unless these hit what is alive; hardly
  # anything is virtual.
  set(unchecked "")
  if(NW_SANITIZE MATCHES "undefined")
    set(unchecked -fno-sanitize=vptr)
    if(NW_SANITIZE MATCHES "address")
      list(APPEND unchecked -fno-sanitize=null,object-size,pointer-overflow)
    endif()
    # Every pointer's alignment takes a sixth: checked in libraries, not in the code of tests and benchmarks.
    list(APPEND unchecked $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fno-sanitize=alignment>)
  endif()
  # With sanitizers, GCC takes members of the standard library's types for uninitialised.
  target_compile_options(nw_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${NW_SANITIZE};${unchecked};-fno-omit-frame-pointer;-fno-sanitize-recover=all;-Wno-maybe-uninitialized>")
  target_link_options(nw_flags INTERFACE -fsanitize=${NW_SANITIZE})
endif()
# A hundred test programs are linked, of some 200 MB each with sanitizers; this linker takes half of GNU ld's time.
find_program(NW_LLD ld.lld)
if(NW_LLD)
  set(NW_TEST_LINK_OPTIONS -fuse-ld=lld)
endif()
