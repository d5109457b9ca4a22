# `make package`, or cpack: one Debian package with everything that is installed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME millrace)
set(CPACK_PACKAGE_CONTACT "The Millrace authors <millrace@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "Neural networks with explicit asynchronous execution, and the VART-ML and NRT APIs on a software NPU")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# The libraries that the package depends on, without its own: `file` finds which files need any, and
# dpkg-shlibdeps which they need. Left out where these two programs are not installed.
find_program(MILLRACE_SHLIBDEPS NAMES dpkg-shlibdeps)
find_program(MILLRACE_FILE NAMES file)
if(MILLRACE_SHLIBDEPS AND MILLRACE_FILE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
endif()
include(CPack)
