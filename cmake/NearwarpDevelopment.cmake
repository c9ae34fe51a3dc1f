# Mechanisms from outside the tree are built with all headers, the libraries that the program is made of, and the
# sources that list mechanisms. They are installed only if asked for, with --component development.
set(NW_DEVELOPMENT_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR}/nearwarp/house)
set(NW_DEVELOPMENT_LIB ${CMAKE_INSTALL_LIBDIR}/nearwarp-house)
set(in_component COMPONENT development EXCLUDE_FROM_ALL)
foreach(folder device kernels host bench/workloads bench/probes)
  get_filename_component(above ${folder} DIRECTORY)
  install(DIRECTORY ${folder} DESTINATION ${NW_DEVELOPMENT_INCLUDE}/${above} ${in_component}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
endforeach()
install(FILES kernels/cpu_executor.cpp kernels/cuda_device.cu kernels/no_cuda_device.cpp
  DESTINATION ${NW_DEVELOPMENT_INCLUDE}/kernels ${in_component})
install(FILES kernels/analytics/cuda_passes.cu kernels/analytics/no_cuda_passes.cpp DESTINATION ${NW_DEVELOPMENT_INCLUDE}/kernels/analytics ${in_component})
install(FILES host/mechanisms/built_in.cpp host/mechanisms/declarations.cpp
  DESTINATION ${NW_DEVELOPMENT_INCLUDE}/host/mechanisms ${in_component})
install(FILES host/cli/main.cpp DESTINATION ${NW_DEVELOPMENT_INCLUDE}/host/cli ${in_component})
get_property(hash GLOBAL PROPERTY NW_MODELS_HASH)
install(FILES ${hash} DESTINATION ${NW_DEVELOPMENT_INCLUDE} ${in_component})
get_property(libraries GLOBAL PROPERTY NW_LIBRARIES)
install(TARGETS ${libraries} ARCHIVE DESTINATION ${NW_DEVELOPMENT_LIB} ${in_component})
configure_file(cmake/NearwarpSettings.cmake.in NearwarpSettings.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/NearwarpSettings.cmake cmake/NearwarpProgram.cmake cmake/HashFiles.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nearwarp ${in_component})
