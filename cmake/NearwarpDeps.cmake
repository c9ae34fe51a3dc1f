# Third-party packages; all of them are Debian packages (tools/setup installs them).
set(NW_MISSING_PACKAGES)

# nw_find(PACKAGE DEBIAN_PACKAGE): find_package, but all that is missing is reported at once.
macro(nw_find package debian_package)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND NW_MISSING_PACKAGES ${debian_package})
  endif()
endmacro()

find_package(Threads REQUIRED)
nw_find(fmt libfmt-dev)
nw_find(cxxopts libcxxopts-dev)
nw_find(tomlplusplus libtomlplusplus-dev)
nw_find(nlohmann_json nlohmann-json3-dev)
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(NOT ZSTD_INCLUDE_DIR OR NOT ZSTD_LIBRARY)
  list(APPEND NW_MISSING_PACKAGES libzstd-dev)
endif()
find_path(LZ4_INCLUDE_DIR lz4.h)
find_library(LZ4_LIBRARY lz4)
if(NOT LZ4_INCLUDE_DIR OR NOT LZ4_LIBRARY)
  list(APPEND NW_MISSING_PACKAGES liblz4-dev)
endif()
if(NW_BUILD_TESTS)
  nw_find(GTest libgtest-dev)
endif()
if(NW_BUILD_BENCHMARKS)
  nw_find(benchmark libbenchmark-dev)
endif()

if(NW_MISSING_PACKAGES)
  list(JOIN NW_MISSING_PACKAGES " " packages)
  message(FATAL_ERROR
    "These Debian packages are missing: ${packages}\n"
    "Install them with this command, then configure again:\n"
    "  tools/setup\n"
    "or by hand:\n"
    "  apt-get install ${packages}\n")
endif()

add_library(nw_zstd INTERFACE)
target_include_directories(nw_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(nw_zstd INTERFACE ${ZSTD_LIBRARY})
add_library(nw_lz4 INTERFACE)
target_include_directories(nw_lz4 SYSTEM INTERFACE ${LZ4_INCLUDE_DIR})
target_link_libraries(nw_lz4 INTERFACE ${LZ4_LIBRARY})
if(NW_BUILD_TESTS)
  include(GoogleTest)
endif()
