# Read by CPack for each kind of package: Debian's packages install into /usr, and the content of a
# tarball may lie anywhere.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
# Packages for another processor depend on packages of the root file system that they were compiled
# against.
if(CPACK_MILLRACE_ROOT)
  set(ENV{DEB_HOST_ARCH} ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})
  set(ENV{DPKG_ADMINDIR} ${CPACK_MILLRACE_ROOT}/var/lib/dpkg)
  set(ENV{PATH} ${CMAKE_CURRENT_LIST_DIR}/../scripts/arm64:$ENV{PATH})
endif()
