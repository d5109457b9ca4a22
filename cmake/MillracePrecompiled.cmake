# Precompiled headers: most of the time that a source takes to compile goes into the headers of the
# standard library and of GoogleTest. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without them.

# millrace_add_precompiled(NAME HEADER LIBRARY...)
# A header of cmake/precompiled, compiled with the options of the libraries. It serves only targets
# that compile with the same options, so there is one for each kind of target.
function(millrace_add_precompiled name header)
  set(source ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  file(WRITE ${source} "")
  add_library(${name} OBJECT ${source})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled/${header})
  target_link_libraries(${name} PRIVATE ${ARGN} millrace_settings)
endfunction()

millrace_add_precompiled(millrace_precompiled standard.h fmt::fmt)
millrace_add_precompiled(millrace_precompiled_hot standard.h fmt::fmt millrace_hot_settings)
millrace_add_precompiled(millrace_precompiled_loops standard.h fmt::fmt millrace_loop_settings)

# millrace_precompile(TARGET [HOT|LOOPS|OWN])
# Sources of TARGET see the standard headers precompiled: HOT for a target with
# millrace_hot_settings, LOOPS for one with millrace_loop_settings, OWN with a copy for this target
# alone, because its options differ from all of these (its visibility, say). A copy pays from about five sources on, counting a group as one.
function(millrace_precompile target)
  if("OWN" IN_LIST ARGN)
    target_precompile_headers(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/cmake/precompiled/standard.h)
  elseif("HOT" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM millrace_precompiled_hot)
  elseif("LOOPS" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM millrace_precompiled_loops)
  else()
    target_precompile_headers(${target} REUSE_FROM millrace_precompiled)
  endif()
endfunction()
