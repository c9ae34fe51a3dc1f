# nearwarp_program(NAME [CUDA] MECHANISM...): the program nearwarp with more mechanisms, by the name of NAME.
#
# A mechanism is a folder beside the CMakeLists.txt that calls this, named as its namespace:
#   device.h      its device code, the type nearwarp::MECHANISM::Mechanism
#   *.cpp         its host side: nearwarp::MECHANISM::declaration() and nearwarp::MECHANISM::mechanism()
# (CONTRIBUTING.md says what these are). The lists of mechanisms and the code that steps machines are compiled
# anew with it; all else is linked from the installation. Machines are stepped on the CPU, and with CUDA on GPUs, too:
# that is for projects of the languages CXX and CUDA, and compiles for some minutes per architecture, whether the
# installation has a CUDA backend or not.
get_filename_component(NEARWARP_PREFIX "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
while(NOT EXISTS "${NEARWARP_PREFIX}/share/nearwarp/configs" AND NOT NEARWARP_PREFIX STREQUAL "/")
  get_filename_component(NEARWARP_PREFIX "${NEARWARP_PREFIX}" DIRECTORY)
endwhile()
include("${CMAKE_CURRENT_LIST_DIR}/NearwarpSettings.cmake")
set(NEARWARP_HASH_FILES "${CMAKE_CURRENT_LIST_DIR}/HashFiles.cmake")

function(nearwarp_program name)
  cmake_parse_arguments(PARSE_ARGV 1 with "CUDA" "" "")
  set(mechanisms ${with_UNPARSED_ARGUMENTS})
  if(NOT mechanisms)
    message(FATAL_ERROR "nearwarp_program(${name}) names no mechanism - name the folder of one")
  endif()
  set(device_code "${nearwarp_INCLUDE}/kernels/no_cuda_device.cpp" "${nearwarp_INCLUDE}/kernels/analytics/no_cuda_passes.cpp")
  if(with_CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
      message(FATAL_ERROR "nearwarp_program(${name} CUDA) is for projects of CUDA - say project(... LANGUAGES CXX CUDA), "
        "or leave CUDA out")
    endif()
    set(device_code "${nearwarp_INCLUDE}/kernels/cuda_device.cu" "${nearwarp_INCLUDE}/kernels/analytics/cuda_passes.cu")
  endif()
  set(CMAKE_CXX_STANDARD 20)
  find_package(Threads REQUIRED)
  set(listed "")
  set(device_includes "")
  set(device_types "")
  set(sources "")
  set(hashed "${nearwarp_INCLUDE}/models_hash.cpp")
  foreach(mechanism IN LISTS mechanisms)
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${mechanism}")
    if(NOT EXISTS "${folder}/device.h")
      message(FATAL_ERROR "there is no ${folder}/device.h - it has the type nearwarp::${mechanism}::Mechanism")
    endif()
    file(GLOB own CONFIGURE_DEPENDS "${folder}/*.cpp")
    file(GLOB all CONFIGURE_DEPENDS "${folder}/*.cpp" "${folder}/*.h")
    list(APPEND sources ${own})
    list(APPEND hashed ${all})
    string(APPEND listed " X(${mechanism})")
    string(APPEND device_includes "#include \"${mechanism}/device.h\"\n")
    string(APPEND device_types " , nearwarp::${mechanism}::Mechanism")
  endforeach()
  set(made "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  file(CONFIGURE OUTPUT "${made}/list.h" CONTENT "#pragma once\n#define NW_MORE_MECHANISMS(X)${listed}\n" @ONLY)
  file(CONFIGURE OUTPUT "${made}/device.h" @ONLY
    CONTENT "#pragma once\n${device_includes}#define NW_MORE_DEVICE_CODE${device_types}\n")
  set(hash "${made}/models_hash.cpp")
  add_custom_command(OUTPUT "${hash}"
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${hash} -DNAMESPACE=nearwarp::sim -DSYMBOL=models_hash
            -P ${NEARWARP_HASH_FILES} ${hashed}
    DEPENDS ${hashed} VERBATIM)
  # Device code of its own comes before the libraries', so that theirs is not taken.
  add_executable(${name} ${sources} "${hash}" ${device_code}
    "${nearwarp_INCLUDE}/kernels/cpu_executor.cpp"
    "${nearwarp_INCLUDE}/host/mechanisms/built_in.cpp"
    "${nearwarp_INCLUDE}/host/mechanisms/declarations.cpp"
    "${nearwarp_INCLUDE}/host/cli/main.cpp")
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${nearwarp_INCLUDE}")
  target_compile_definitions(${name} PRIVATE
    "NW_MORE_MECHANISMS_HEADER=\"${made}/list.h\"" "NW_MORE_DEVICE_CODE_HEADER=\"${made}/device.h\"")
  if(nearwarp_DEBUG_ASSERTS)
    target_compile_definitions(${name} PRIVATE NW_DEBUG_ASSERTS=1)
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp-simd;-ffp-contract=off>)
  if(nearwarp_MARCH)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=${nearwarp_MARCH}>)
  endif()
  if(with_CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20" PARENT_SCOPE)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20" PARENT_SCOPE)
    endif()
    set_target_properties(${name} PROPERTIES CUDA_STANDARD 20)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
    target_compile_definitions(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:NW_HAVE_THRUST=1;THRUST_FORCE_32_BIT_OFFSET_TYPE>)
  endif()
  # It finds configurations, and what applications get in place of CUDA's libraries, as an installed one does.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bin")
  foreach(folder share lib)
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${folder}")
    file(CREATE_LINK "${NEARWARP_PREFIX}/${folder}/nearwarp" "${CMAKE_CURRENT_BINARY_DIR}/${folder}/nearwarp" SYMBOLIC)
  endforeach()
  file(GLOB libraries "${nearwarp_LIB}/*.a")
  # The program's own lists come first, so that the libraries' are not taken.
  target_link_libraries(${name} PRIVATE -Wl,--start-group ${libraries} -Wl,--end-group
    fmt tomlplusplus zstd xxhash lz4 lzma Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
