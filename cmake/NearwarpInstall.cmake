# cmake --install build/cpu --prefix DIR: bin/nearwarp and share/nearwarp/configs.
if(NOT TARGET nearwarp)
  return()
endif()
include(GNUInstallDirs)
install(TARGETS nearwarp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/nearwarp/configs
        FILES_MATCHING PATTERN "*.toml")
