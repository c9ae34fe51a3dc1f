# Thrust and CUB, from the CUDA toolkit or from Debian's libthrust-dev and libcub-dev. Headers only;
# without them nearwarp is built without what uses them. NW_HAVE_THRUST says whether target
# nw_thrust exists: the headers, with Thrust's sequential C++ system as host and as device system
# in sources that the host compiler compiles, and the macro NW_HAVE_THRUST.
set(NW_HAVE_THRUST OFF)
set(hints)
if(NW_HAVE_CUDA)
  get_filename_component(cuda_root "${CMAKE_CUDA_COMPILER}" DIRECTORY)
  get_filename_component(cuda_root "${cuda_root}" DIRECTORY)
  set(hints ${cuda_root}/include/cccl ${cuda_root}/include)  # CUDA 13 has them in cccl
endif()
# The first place that has both: their versions must fit each other.
foreach(folder IN LISTS hints ITEMS /usr/local/cuda/include/cccl /usr/local/cuda/include /usr/include)
  if(EXISTS ${folder}/thrust/version.h AND EXISTS ${folder}/cub/version.cuh)
    set(NW_HAVE_THRUST ON)
    set(NW_THRUST_INCLUDE_DIR ${folder})
    break()
  endif()
endforeach()

if(NW_HAVE_THRUST)
  add_library(nw_thrust INTERFACE)
  # As system headers: their warnings are not ours. /usr/include is searched in any case.
  if(NOT NW_THRUST_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(nw_thrust SYSTEM INTERFACE ${NW_THRUST_INCLUDE_DIR})
  endif()
  target_compile_definitions(nw_thrust INTERFACE
    NW_HAVE_THRUST=1
    $<$<COMPILE_LANGUAGE:CXX>:THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP>
    $<$<COMPILE_LANGUAGE:CXX>:THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP>)
  message(STATUS "nearwarp: Thrust and CUB from ${NW_THRUST_INCLUDE_DIR}")
else()
  message(STATUS "nearwarp: no Thrust and CUB (a CUDA toolkit or libthrust-dev, libcub-dev)")
endif()
