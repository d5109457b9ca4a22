# Compiles through ccache where it is installed. Objects are found again in another checkout, since
# paths below the source folder are taken relative to the build folder, which has the same place in
# every checkout. -DMILLRACE_CCACHE=OFF compiles without ccache.
option(MILLRACE_CCACHE "Compile through ccache where it is installed" ON)
find_program(MILLRACE_CCACHE_PROGRAM ccache)
mark_as_advanced(MILLRACE_CCACHE_PROGRAM)

if(MILLRACE_CCACHE AND MILLRACE_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need this sloppiness; see "Precompiled headers" in ccache's manual. Debug
  # information names the folder of the first build, which does no harm. ccache compares the files
  # that a source includes (depend mode), not the preprocessed text, which has no comments: a
  # precompiled header fits only the very files it was made from, of which it stores sums or sizes.
  # This also saves a run of the preprocessor for each object that is compiled.
  set(launcher env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true CCACHE_DEPEND=true
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${MILLRACE_CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  # g++ must keep the precompiled header's name in what it preprocesses, and clang++ must leave its
  # time out of it.
  add_compile_options(
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
