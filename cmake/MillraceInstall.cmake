# What `make install` and `cmake --install` put where, and the pkg-config files of both trees.

install(TARGETS millrace vart-ml LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# A device plugin is found beside the core library.
install(TARGETS millrace-cpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS millrace_cli vart_infer_async ml_vart vart_multi_tenancy vart_multimodel_seq
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/millrace ${PROJECT_SOURCE_DIR}/include/vart
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# For each library that programs link, one file for programs built against this build tree (see
# `millrace env`), one to be installed.
foreach(package millrace vart-ml)
  set(PC_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/include)
  set(PC_LIBRARY_DIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in
    ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pkgconfig/${package}.pc @ONLY)
  set(PC_INCLUDE_DIR "\${pcfiledir}/../../../${CMAKE_INSTALL_INCLUDEDIR}")
  set(PC_LIBRARY_DIR "\${pcfiledir}/..")
  if(NOT CMAKE_INSTALL_LIBDIR MATCHES "/")
    set(PC_INCLUDE_DIR "\${pcfiledir}/../../${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in
    ${PROJECT_BINARY_DIR}/install/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/install/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
