# `make package`: Debian packages, one for each component of MillraceInstall.cmake. `make tarball`: a
# folder with everything that `make install` installs, which works wherever it is unpacked.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME millrace)
set(CPACK_PACKAGE_CONTACT "The Millrace authors <millrace@localhost>")
set(CPACK_PACKAGE_FILE_NAME
  millrace-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/MillracePackageOptions.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE millrace)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The libraries that a package depends on, without its own: `file` finds which files need any, and
# dpkg-shlibdeps which they need. Left out where these two programs are not installed.
find_program(MILLRACE_SHLIBDEPS NAMES dpkg-shlibdeps)
find_program(MILLRACE_FILE NAMES file)
if(MILLRACE_SHLIBDEPS AND MILLRACE_FILE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  # Packages of programs that are linked against ours depend on these versions.
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
endif()
if(CMAKE_CROSSCOMPILING AND MILLRACE_DEBIAN_ARCHITECTURE)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${MILLRACE_DEBIAN_ARCHITECTURE})
  set(CPACK_MILLRACE_ROOT ${CMAKE_SYSROOT})
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${CMAKE_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}
    ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
# Among each other the packages use what is not promised to programs, so each needs the others of its
# own build: = VERSION.
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

# Debian wants these files in /usr/share/doc of each package.
set(package_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
# The time of the sources, so that a package is the same whenever it is made.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%aD
  OUTPUT_VARIABLE package_date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT package_date)
  string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
set(made ${PROJECT_BINARY_DIR}/debian)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in ${made}/changelog.Debian @ONLY)
execute_process(COMMAND gzip -9nf ${made}/changelog.Debian)

# millrace_debian_package(COMPONENT NAME SECTION [ALL] [NEEDS component ...] DESCRIPTION line ...)
# The first line of the description is its summary. ALL: the same for all processors. NEEDS: the packages
# of these components, of the same version.
function(millrace_debian_package component name section)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "ALL" "" "NEEDS;DESCRIPTION")  # keeps empty lines
  string(TOUPPER ${component} key)
  list(JOIN ARG_DESCRIPTION "\n" description)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DEPENDS ${ARG_NEEDS} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
  if(ARG_ALL)
    set(CPACK_DEBIAN_${key}_PACKAGE_ARCHITECTURE all PARENT_SCOPE)
  endif()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)

  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright ${made}/changelog.Debian.gz
    DESTINATION ${folder} COMPONENT ${component} EXCLUDE_FROM_ALL)
  # lintian's remarks that do not hold for all packages, for those of the section, or for this one.
  set(overrides)
  foreach(whose all ${section} ${name})
    set(file ${PROJECT_SOURCE_DIR}/cmake/debian/lintian/${whose})
    if(EXISTS ${file})
      file(READ ${file} text)
      string(APPEND overrides "${text}")
    endif()
  endforeach()
  file(WRITE ${made}/lintian/${name} "${overrides}")
  install(FILES ${made}/lintian/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
    COMPONENT ${component} EXCLUDE_FROM_ALL)
  if(section STREQUAL "libs")
    set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers
      PARENT_SCOPE)
  endif()
endfunction()

set(CPACK_COMPONENTS_ALL)
millrace_debian_package(core libmillrace0 libs DESCRIPTION
  "inference runtime with explicit asynchronous execution"
  "Millrace loads compiled neural networks on a device and runs jobs on bounded"
  "execution units. The caller always knows which jobs are in flight, which have"
  "finished and which have failed."
  ""
  "This package has the core library, with the native C++20 API and the null"
  "device. The package libmillrace-cpu0 has the device that computes.")
set(CPACK_DEBIAN_CORE_PACKAGE_RECOMMENDS "libmillrace-cpu0 (= ${package_version})")
millrace_debian_package(cpu libmillrace-cpu0 libs NEEDS core DESCRIPTION
  "software NPU of the Millrace inference runtime"
  "Millrace loads compiled neural networks on a device and runs jobs on bounded"
  "execution units."
  ""
  "This package has the device that computes on the processor, with oneDNN and"
  "kernels of its own, and what processes of several ranks communicate by.")
millrace_debian_package(vart_ml libvart-ml0 libs NEEDS core cpu DESCRIPTION
  "VART-ML API on the software NPU of Millrace"
  "VART-ML is the C++ API by which programs run neural networks on the NPU of"
  "AMD's Versal AI Edge Gen 2."
  ""
  "With this library they run without the board, on a software NPU that computes"
  "what the network computes.")
millrace_debian_package(vart_x libvart-x0 libs NEEDS core DESCRIPTION
  "VART-X API on the software NPU of Millrace"
  "VART-X is the C++ API by which programs for AMD's Versal AI Edge Gen 2 prepare"
  "pictures for a neural network and interpret its results."
  ""
  "With this library they run without the board.")
millrace_debian_package(xrt libxrt-coreutil0 libs NEEDS core DESCRIPTION
  "stand-in for the XRT library of a board"
  "Programs for AMD's Versal AI Edge Gen 2 allocate buffers and start kernels"
  "through the library libxrt_coreutil."
  ""
  "This library of Millrace has what they use of it: buffer objects in memory,"
  "and kernels in software.")
millrace_debian_package(nrt libnrt1-millrace libs NEEDS core cpu DESCRIPTION
  "Neuron runtime API (NRT) on the software NPU of Millrace"
  "NRT is the C API by which programs run neural networks on AWS Trainium and"
  "Inferentia."
  ""
  "With this libnrt.so.1 they run without the chip, on a software NPU that"
  "computes what the network computes.")
# It is left to chance which of two libraries of one name a program would load. The vendor's own
# packages look for the library in /opt/aws/neuron, so this is no substitute for them.
set(CPACK_DEBIAN_NRT_PACKAGE_PROVIDES libnrt1)
set(CPACK_DEBIAN_NRT_PACKAGE_CONFLICTS "libnrt1, aws-neuronx-runtime-lib")
millrace_debian_package(dev libmillrace-dev libdevel NEEDS core vart_ml vart_x xrt nrt DESCRIPTION
  "headers of Millrace and of the vendor APIs on it"
  "Millrace is an inference runtime with explicit asynchronous execution."
  ""
  "This package has the headers, pkg-config files and CMake packages of its native"
  "C++20 API, of VART-ML and VART-X, of the stand-in for XRT, and of NRT.")
# xrt/experimental/xrt_message.h includes boost/format.hpp, as the vendor's header does.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS libboost-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "millrace-doc, millrace-samples, pkg-config")
set(CPACK_DEBIAN_DEV_PACKAGE_CONFLICTS libxrt-dev)
millrace_debian_package(tools millrace science NEEDS core cpu DESCRIPTION
  "compiler and tools for neural networks on Millrace"
  "The program millrace compiles ONNX models into archives for the Millrace"
  "inference runtime, in FP32, BF16, FP16 or INT8, and runs, measures, explains"
  "and evaluates them.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libnrt1-millrace (= ${package_version})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "millrace-doc, millrace-samples, libmillrace-dev")
millrace_debian_package(samples millrace-samples science NEEDS core vart_ml vart_x nrt DESCRIPTION
  "sample programs of VART-ML, VART-X and NRT on Millrace"
  "Programs that keep several jobs in flight, handle results in callbacks, share a"
  "device, avoid copies or go on after failures, with their sources in"
  "/usr/share/millrace/samples, which build outside of the repository. A network"
  "that reads characters comes with them.")
set(CPACK_DEBIAN_SAMPLES_PACKAGE_RECOMMENDS "millrace, libmillrace-dev, g++, make, pkg-config")
millrace_debian_package(doc millrace-doc doc ALL DESCRIPTION
  "documentation of Millrace"
  "Millrace is an inference runtime with explicit asynchronous execution, and"
  "implements the APIs VART-ML, VART-X and NRT on a software NPU."
  ""
  "This package has its documentation, in Markdown: how to use each API and the"
  "tool, what they promise, measurements, and the design.")
get_cmake_property(components COMPONENTS)
if("python" IN_LIST components)
  millrace_debian_package(python python3-millrace python NEEDS core cpu DESCRIPTION
    "Python module of the Millrace inference runtime"
    "Millrace loads compiled neural networks on a device and runs jobs on bounded"
    "execution units."
    ""
    "This package has its native API for Python 3, with arrays of NumPy.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy")
endif()
include(CPack)
