# Read by CPack for each kind of package: Debian's packages install into /usr, and the content of a
# tarball may lie anywhere.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
