# CPack: a Debian package and a tarball of what is installed (tools/package).
set(CPACK_PACKAGE_NAME nearwarp)
set(CPACK_PACKAGE_VENDOR "The nearwarp developers")
set(CPACK_PACKAGE_CONTACT "The nearwarp developers <nearwarp@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level simulator of GPUs with near-data processing")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Debian's packages of the libraries that it is linked with, by the versions that it was linked with. The
# runtime libraries that applications get in place of CUDA's lie in the package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/lib/nearwarp)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, python3-pandas")
include(CPack)
