# With MILLRACE_GROUP_SOURCES the C++ sources of a folder are compiled as one, which halves the
# time. The preset `apart` compiles every source but those of the conformance suite by itself, and
# so finds sources that include too little; run it before a release, and after dividing headers.

# millrace_compile_apart(SOURCE ...)
# Sources of the calling folder that are always compiled by themselves, for instance because Highway
# compiles them several times, which it does to one source at a time.
function(millrace_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# millrace_compile_in_second_group(SOURCE ...)
# Sources of the calling folder that form a second group of their folder, because a neighbour of the
# first defines a hidden name that they define, too.
function(millrace_compile_in_second_group)
  set_source_files_properties(${ARGN} PROPERTIES MILLRACE_GROUP second)
endfunction()

# millrace_compile_in_group(GROUP SOURCE ...)
# As above, for folders that need more than two groups.
function(millrace_compile_in_group group)
  set_source_files_properties(${ARGN} PROPERTIES MILLRACE_GROUP ${group})
endfunction()

# millrace_targets_below(FOLDER RESULT)
# The targets that FOLDER and the folders below it define.
function(millrace_targets_below folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    millrace_targets_below(${below} more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# millrace_compile_folders_together()
# For all targets that were defined before and do not say by UNITY_BUILD how they are compiled.
# Groups are folders, so that a new source meets the names of its neighbours only. Where the target
# has the property MILLRACE_ONE_FOLDER, the folders below its own count as that one.
function(millrace_compile_folders_together)
  millrace_targets_below(${PROJECT_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    get_target_property(decided ${target} UNITY_BUILD)
    get_target_property(sources ${target} SOURCES)
    if(NOT decided STREQUAL "decided-NOTFOUND" OR NOT sources)
      continue()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # g++ takes the sources for headers, and warns of types with members of a hidden type.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    get_target_property(base ${target} SOURCE_DIR)
    get_target_property(one_folder ${target} MILLRACE_ONE_FOLDER)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(IS_PREFIX base ${folder} is_below)
      if(one_folder AND is_below)
        set(folder ${base})
      endif()
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      get_source_file_property(part ${source} TARGET_DIRECTORY ${target} MILLRACE_GROUP)
      if(part)
        string(APPEND folder "/${part}")
      endif()
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target}
        PROPERTIES UNITY_GROUP ${group})
    endforeach()
  endforeach()
endfunction()
