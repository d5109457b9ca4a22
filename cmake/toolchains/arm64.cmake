# Compiles for arm64 on another machine, with Debian's g++-aarch64-linux-gnu against the libraries of
# Debian's arm64 packages in build/arm64-root, which scripts/make_arm64_root.sh makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(MILLRACE_DEBIAN_ARCHITECTURE arm64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

cmake_path(SET arm64_root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/arm64-root)
set(CMAKE_SYSROOT ${arm64_root})
# Programs that run during the build come from this machine, all else from the other's packages.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${arm64_root})
set(ENV{PKG_CONFIG_LIBDIR}
  ${arm64_root}/usr/lib/aarch64-linux-gnu/pkgconfig:${arm64_root}/usr/share/pkgconfig)
# Programs that were built run in an emulator: the tool writes its manual pages during the build.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;${arm64_root})
