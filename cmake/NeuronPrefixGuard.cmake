# Runs before the component neuron-prefix is installed: does not replace another libnrt.so.1 unless
# FORCE=1 is in the environment, and then keeps a copy of it.
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib")
foreach(name libnrt.so.1 libnrt.so)
  set(library "${folder}/${name}")
  if(NOT EXISTS "${library}" AND NOT IS_SYMLINK "${library}")
    continue()
  endif()
  # Our library is recognised by its dependency on the core library.
  set(core_library)
  if(EXISTS "${library}")
    file(STRINGS "${library}" core_library LIMIT_COUNT 1 REGEX "libmillrace\\.so")
  endif()
  if(core_library)
    continue()
  endif()
  if(NOT "$ENV{FORCE}" STREQUAL "1")
    # CMake does not wrap indented lines.
    message(FATAL_ERROR " ${library} is there and not Millrace's: nothing was installed.\n"
      " PREFIX=FOLDER installs elsewhere, FORCE=1 replaces the library and the headers.")
  endif()
  file(RENAME "${library}" "${folder}/replaced-${name}")
endforeach()
