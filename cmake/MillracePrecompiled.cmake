# Precompiled headers: most of the time that a source takes to compile goes into the headers of the
# standard library and of GoogleTest. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without them.

# A precompiled header can be used only with the compiler options that it was compiled with, so
# there is one for each kind of target.
function(millrace_add_precompiled name header)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  target_precompile_headers(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}>)
  target_link_libraries(${name} PRIVATE ${ARGN} millrace_settings)
endfunction()

millrace_add_precompiled(millrace_precompiled standard.h fmt::fmt)

# millrace_precompile(TARGET [OWN])
# Sources of TARGET see the standard headers precompiled. OWN: with a copy for this target alone,
# because its options differ (visibility, say).
function(millrace_precompile target)
  if("OWN" IN_LIST ARGN)
    target_precompile_headers(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled/standard.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM millrace_precompiled)
  endif()
endfunction()
