# What `make install` and `cmake --install` install, and how programs find it: by pkg-config (in the
# build tree, too) and by CMake package (installed only). An installation may be moved as a whole.
include(CMakePackageConfigHelpers)

# Each component is a Debian package of its own (MillracePackage.cmake). `tools` also has what belongs to
# the tool, such as its man pages; `python` is the Python module.

# millrace_install_libraries(COMPONENT TARGET...)
# The link that programs are linked by, NAME.so, belongs to the headers.
function(millrace_install_libraries component)
  install(TARGETS ${ARGN} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT ${component} NAMELINK_COMPONENT dev)
endfunction()

millrace_install_libraries(core millrace)
# A device plugin is found beside the core library.
millrace_install_libraries(cpu millrace-cpu millrace-ranks millrace-reserve)
millrace_install_libraries(vart_ml vart-ml)
millrace_install_libraries(vart_x vart-x)
millrace_install_libraries(xrt xrt_coreutil)
millrace_install_libraries(nrt nrt)
set(shipped_libraries millrace vart-ml vart-x xrt_coreutil nrt millrace-cpu millrace-ranks
  millrace-reserve)
install(TARGETS millrace_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
if(TARGET millrace_serve_program)
  install(TARGETS millrace_serve_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
if(TARGET millrace_load_program)
  install(TARGETS millrace_load_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
set(shipped_samples vart_infer_async vart_callback ml_vart vart_multi_tenancy vart_multimodel_seq
  vart_zerocopy x_plus_ml nrt_load_run nrt_async_pipeline nrt_error_tracker nrt_all_reduce
  nrt_send_recv nrt_tensor_parallel)
install(TARGETS ${shipped_samples} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT samples)
# Sources that build outside of the repository, and the network that they can run. They are no documentation,
# which the base images of containers leave out.
set(data_folder ${CMAKE_INSTALL_DATADIR}/millrace)
foreach(folder common vart_x_common nrt_common native decode ${shipped_samples})
  install(DIRECTORY samples/${folder} DESTINATION ${data_folder}/samples COMPONENT samples
    PATTERN CMakeLists.txt EXCLUDE)
endforeach()
install(FILES samples/README.md DESTINATION ${data_folder}/samples COMPONENT samples)
install(DIRECTORY models/glyphs DESTINATION ${data_folder}/models COMPONENT samples
  PATTERN "*.py" EXCLUDE PATTERN "*.mjs" EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
# Debian's packages refer to the system's copy of the licence instead.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
# This builds what an installation needs, without tests and benchmarks.
add_custom_target(shipped)
add_dependencies(shipped ${shipped_libraries} millrace_cli ${shipped_samples})
if(TARGET millrace_serve_program)
  add_dependencies(shipped millrace_serve_program)
endif()
if(TARGET millrace_load_program)
  add_dependencies(shipped millrace_load_program)
endif()
# Its package is made from what is built here; an installation has it on request only.
if(TARGET millrace_python)
  add_dependencies(shipped millrace_python)
endif()
# The program writes its manual pages and the completion of shells from its own options. One that was
# compiled for another machine needs an emulator for that.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  add_custom_command(OUTPUT ${pages}/man1/millrace.1.gz
    COMMAND millrace_cli pages ${pages}
    COMMAND sh -c "gzip -9nf ${pages}/man1/*.1"
    DEPENDS millrace_cli
    COMMENT "Writing manual pages and completion"
    VERBATIM)
  add_custom_target(pages ALL DEPENDS ${pages}/man1/millrace.1.gz)
  add_dependencies(shipped pages)
  install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools)
  install(FILES ${pages}/bash/millrace
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  install(FILES ${pages}/zsh/_millrace DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
    COMPONENT tools)
  install(FILES ${pages}/fish/millrace.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
endif()
# This builds what scripts/demo.sh runs, which is less, so that a newcomer sees the demo sooner. The
# sample loads the plugins.
add_custom_target(demo_programs)
add_dependencies(demo_programs millrace_cli millrace-cpu millrace-reserve vart_infer_async glyphs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/millrace ${PROJECT_SOURCE_DIR}/include/vart
  ${PROJECT_SOURCE_DIR}/include/xrt ${PROJECT_SOURCE_DIR}/include/experimental
  ${PROJECT_SOURCE_DIR}/include/nrt ${PROJECT_SOURCE_DIR}/include/ndl
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

# The component for programs that look in /opt/aws/neuron. It is complete in itself and installed only
# on request (`make install-neuron-prefix`). A process that also loads libraries of another
# installation still has one core library, since the loader identifies it by its name. The component
# may be moved as a whole, but a link to a single library does not work: the libraries look for each
# other beside the path that the loader was given.
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/NeuronPrefixGuard.cmake
  COMPONENT neuron-prefix EXCLUDE_FROM_ALL)
install(TARGETS nrt millrace millrace-cpu millrace-ranks millrace-reserve
  LIBRARY DESTINATION lib COMPONENT neuron-prefix EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nrt ${PROJECT_SOURCE_DIR}/include/ndl
  DESTINATION include COMPONENT neuron-prefix EXCLUDE_FROM_ALL)
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/NeuronPrefixUndo.cmake
  COMPONENT neuron-prefix EXCLUDE_FROM_ALL)

# millrace_install_pkg_config(NAME VERSION)
# Makes NAME.pc from NAME.pc.in twice: for programs that are built against this build tree (see
# `millrace env`), and for installation.
function(millrace_install_pkg_config name version)
  set(PC_VERSION ${version})
  set(PC_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/include)
  set(PC_LIBRARY_DIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
    ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pkgconfig/${name}.pc @ONLY)
  set(PC_INCLUDE_DIR "\${pcfiledir}/../../../${CMAKE_INSTALL_INCLUDEDIR}")
  set(PC_LIBRARY_DIR "\${pcfiledir}/..")
  if(NOT CMAKE_INSTALL_LIBDIR MATCHES "/")
    set(PC_INCLUDE_DIR "\${pcfiledir}/../../${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
    ${PROJECT_BINARY_DIR}/install/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/install/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()

# millrace_install_cmake_package(NAME VERSION)
# Makes the package NAME from <name>-config.cmake.in. It is written by hand rather than exported: the core
# library consists of one object library per layer, which an export would have to include.
function(millrace_install_cmake_package name version)
  string(TOLOWER ${name}-config config)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  set(made ${PROJECT_BINARY_DIR}/install)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/${config}.cmake.in
    ${made}/${config}.cmake.in INSTALL_DESTINATION ${folder}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  file(GENERATE OUTPUT ${made}/${config}.cmake INPUT ${made}/${config}.cmake.in)
  set(version_file ${made}/${config}-version.cmake)
  write_basic_package_version_file(${version_file} VERSION ${version} COMPATIBILITY SameMajorVersion)
  install(FILES ${made}/${config}.cmake ${version_file} DESTINATION ${folder} COMPONENT dev)
endfunction()

# Makefiles of programs for the board ask for at least 0.1 of the two in release 6.2, and for at least
# 0.4.0 or 0.5.0 in the one after it; and for at least 2.6 of the board's runtime.
set(vart_version 0.5.0)
# What nrt_get_version reports.
set(nrt_version 2.34.0)
millrace_install_pkg_config(millrace ${PROJECT_VERSION})
millrace_install_pkg_config(vart-ml ${vart_version})
millrace_install_pkg_config(vart-x ${vart_version})
millrace_install_pkg_config(xrt 2.19.0)
millrace_install_pkg_config(nrt ${nrt_version})
millrace_install_cmake_package(Millrace ${PROJECT_VERSION})
millrace_install_cmake_package(vart-ml ${vart_version})
millrace_install_cmake_package(vart-x ${vart_version})
millrace_install_cmake_package(nrt ${nrt_version})
