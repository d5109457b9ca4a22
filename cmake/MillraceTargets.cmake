# Helpers that keep the folder of every layer down to a list of its sources.

# Compile and link settings shared by every target of the project.
add_library(millrace_settings INTERFACE)
target_compile_options(millrace_settings INTERFACE -Wall -Wextra)
# g++ collects its garbage so often that it takes an eighth of the time. With these it takes a tenth
# more memory instead.
target_compile_options(millrace_settings INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-expand=200 --param ggc-min-heapsize=1048576>")
# Links a sanitized program four to eight times as fast as the linker of binutils, others twice. Not
# libraries: lld 14 cannot demangle `operator co_await`, so their version scripts would miss it.
find_program(MILLRACE_LLD NAMES ld.lld)
add_library(millrace_fast_link INTERFACE)
if(MILLRACE_LLD AND NOT CMAKE_CROSSCOMPILING)  # which a cross compiler does not find
  target_link_options(millrace_fast_link INTERFACE
    "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fuse-ld=lld>")
endif()
if(MILLRACE_SANITIZE)
  target_compile_options(millrace_settings INTERFACE
    -fsanitize=${MILLRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(millrace_settings INTERFACE -fsanitize=${MILLRACE_SANITIZE})
  target_link_libraries(millrace_settings INTERFACE millrace_fast_link)
endif()
# Checks of pointers take a third of the compilation with UndefinedBehaviorSanitizer. AddressSanitizer
# stops the wrong accesses that follow; that of alignment is left to the layers that read archives.
add_library(millrace_alignment_settings INTERFACE)
if(MILLRACE_SANITIZE MATCHES "address.*undefined")
  target_compile_options(millrace_settings INTERFACE
    -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
  target_compile_options(millrace_alignment_settings INTERFACE -fsanitize=alignment)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND MILLRACE_SANITIZE)
  # g++ 12 reports false positives from inlined standard library code under the sanitizers.
  target_compile_options(millrace_settings INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
endif()

# $<LINK_LIBRARY:as_needed,NAME>: a shared library that is loaded only if something refers to it.
set(CMAKE_LINK_LIBRARY_USING_as_needed
  LINKER:--push-state,--as-needed "<LINK_ITEM>" LINKER:--pop-state)
set(CMAKE_LINK_LIBRARY_USING_as_needed_SUPPORTED TRUE)

# For libraries that read what comes from outside. The fuzz targets of tests/fuzz link them and learn
# from counters in their code which inputs reach something new; tests are compiled without.
add_library(millrace_fuzzed_settings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND MILLRACE_SANITIZE MATCHES "address")
  set(MILLRACE_FUZZ ON)
  # What -fsanitize=fuzzer-no-link stands for; under that name a source refuses precompiled headers
  # that were made without.
  target_compile_options(millrace_fuzzed_settings INTERFACE
    -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
endif()

# For what runs per job, and for vector loops. The rest is compiled with -O2, which takes a sixth less time,
# and everything with -O0 under the sanitizers, which takes half.
add_library(millrace_hot_settings INTERFACE)
# A function of the library is never replaced by one of the same name in the program, so g++ may
# inline it into its callers in the same source.
if(NOT MILLRACE_SANITIZE)
  target_compile_options(millrace_hot_settings INTERFACE
    "$<$<CONFIG:Release>:-O3;-fno-semantic-interposition>")
endif()

# For kernels by plain loops: loops become vectors as with -O3, and the rest is compiled as with -O2.
# The whole of -O3 takes a half longer and makes them no faster.
add_library(millrace_loop_settings INTERFACE)
if(NOT MILLRACE_SANITIZE)
  target_compile_options(millrace_loop_settings INTERFACE
    "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fvect-cost-model=dynamic>"
    "$<$<CONFIG:Release>:-fno-semantic-interposition>")
endif()

# millrace_optimise_sanitized(SOURCE ...)
# Sources of the calling folder with loops that compute so much that tests take longer without
# optimisation than optimising them takes, under the sanitizers, too.
function(millrace_optimise_sanitized)
  if(MILLRACE_SANITIZE)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O1)
    set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# millrace_add_layer(NAME SOURCES ... [USES layer ...] [LIBS library ...] [HOT|LOOPS|OWN])
# One folder of src/ as an object library `millrace_NAME`. USES names the layers below it; the
# build passes their include paths on, and scripts/check_layers.py checks that no include points up.
# HOT: its code runs per job. LOOPS: kernels by plain loops. OWN: see millrace_precompile().
function(millrace_add_layer name)
  cmake_parse_arguments(ARG "HOT;LOOPS;OWN" "" "SOURCES;USES;LIBS" ${ARGN})
  set(target millrace_${name})
  add_library(${target} OBJECT ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src)
  list(TRANSFORM ARG_USES PREPEND millrace_)
  target_link_libraries(${target} PUBLIC ${ARG_USES} ${ARG_LIBS} PRIVATE millrace_settings)
  if(ARG_HOT)
    target_link_libraries(${target} PRIVATE millrace_hot_settings)
    millrace_precompile(${target} HOT)
  elseif(ARG_LOOPS)
    target_link_libraries(${target} PRIVATE millrace_loop_settings)
    millrace_precompile(${target} LOOPS)
  else()
    target_link_libraries(${target} PRIVATE millrace_fuzzed_settings)
    set(own)
    if(ARG_OWN)
      set(own OWN)
    endif()
    millrace_precompile(${target} ${own})
  endif()
endfunction()

# millrace_export_only(TARGET MAP)
# Gives a shared library the version script MAP (of the calling folder) and lets it miss no symbol.
function(millrace_export_only target map)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/${map})
  target_link_options(${target} PRIVATE -Wl,--version-script=${path})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${path})
  if(NOT MILLRACE_SANITIZE)  # clang keeps a sanitizer's runtime in the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# millrace_add_exports_test(TARGET NAMESPACE)
# A test that a shared library exports the names of that namespace and nothing else.
function(millrace_add_exports_test target namespace)
  add_test(NAME exports_${target}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/support/check_exports.sh
      ${CMAKE_NM} $<TARGET_FILE:${target}> ${namespace})
endfunction()

# millrace_add_c_sample(NAME SOURCES ...)
# A sample of the NRT face, in C. A sanitized library needs the sanitizer's runtime for C++ in the
# program; and each source of a C program has names of its own.
function(millrace_add_c_sample name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(MILLRACE_SANITIZE)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  target_link_libraries(${name} PRIVATE nrt_samples_common millrace_settings)
endfunction()

# millrace_optimise_test(TARGET OPTIMISED)
# Tests assert what the library does, not how fast their own code is. Without optimisation they
# take a sixth less time to compile, and less than half under AddressSanitizer. OPTIMISED is true
# for those that compute so much themselves that optimising them pays.
function(millrace_optimise_test target optimised)
  if(NOT optimised)
    target_compile_options(${target} PRIVATE -O0)
    target_precompile_headers(${target} REUSE_FROM millrace_test_precompiled)
  elseif(MILLRACE_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# millrace_add_fixtures(NAME SOURCES ... [LIBS library ...] [OPTIMISED])
# What several test programs share, compiled once, as they are. OPTIMISED: see millrace_optimise_test.
function(millrace_add_fixtures name)
  cmake_parse_arguments(ARG "OPTIMISED" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name}
    PUBLIC millrace_test_support ${ARG_LIBS} PRIVATE millrace_test_settings)
  target_compile_options(${name} PRIVATE -fPIE)
  millrace_optimise_test(${name} ${ARG_OPTIMISED})
endfunction()

# millrace_add_test(NAME SOURCES ... [LIBS library ...] [LABELS label ...] [TIMEOUT seconds]
#                   [FIXTURE name] [OPTIMISED] [PROCESS_PER_CASE] [REPLACES_NEW] [ONE_FOLDER])
# A GoogleTest program, whose cases two processes run: see millrace_add_shards. So a case leaves its
# process as it was: environment, signals, what is loaded once. PROCESS_PER_CASE: ctest lists the
# cases one by one and runs each in a process of its own, because they do not, or because each takes
# so long that it should run beside others. FIXTURE names a ctest fixture of theirs. OPTIMISED: see
# millrace_optimise_test. TIMEOUT is that of a process. REPLACES_NEW: the program counts and refuses
# allocations through tests/support/counting_new.cpp. clang's ThreadSanitizer defines operator new
# itself, so its build leaves the program out. ONE_FOLDER: small sources of several folders are
# compiled as if they were in one, which takes a fourth of the time.
function(millrace_add_test name)
  cmake_parse_arguments(ARG
    "OPTIMISED;PROCESS_PER_CASE;REPLACES_NEW;ONE_FOLDER" "TIMEOUT;FIXTURE" "SOURCES;LIBS;LABELS"
    ${ARGN})
  if(ARG_REPLACES_NEW)
    if(MILLRACE_SANITIZE STREQUAL "thread")
      return()
    endif()
    list(APPEND ARG_SOURCES $<TARGET_OBJECTS:millrace_counting_new>)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests MILLRACE_ONE_FOLDER ${ARG_ONE_FOLDER})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE
    millrace_test_support millrace ${ARG_LIBS} millrace_test_settings)
  millrace_optimise_test(${name} ${ARG_OPTIMISED})
  # Tests run side by side, and must not find each other on the columns of the user. BF16 is tested
  # wherever the processor can compute it, also where it is slow. (A list in ENVIRONMENT would have
  # to be escaped differently for set_tests_properties and gtest_discover_tests.)
  set(properties TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT MILLRACE_COLUMN_TABLE=off
    ENVIRONMENT_MODIFICATION MILLRACE_NO_BF16=set:0)
  if(ARG_FIXTURE)
    list(APPEND properties FIXTURES_REQUIRED ${ARG_FIXTURE})
  endif()
  if(NOT ARG_PROCESS_PER_CASE)
    millrace_add_shards(${name} NAME ${name} LABELS ${ARG_LABELS} PROPERTIES ${properties})
    return()
  endif()
  # Last: a value that is empty would make the next property's name the value.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES ${properties} LABELS "${ARG_LABELS}")
endfunction()

# millrace_add_shards(PROGRAM NAME name [FILTER gtest_filter] [LABELS label ...]
#                     PROPERTIES property value ...)
# The cases of a GoogleTest program as two ctest tests NAME.shard0 and NAME.shard1, each a process
# with every other case. A process takes up to a tenth of a second to start, with a sanitizer several
# times that, and most cases take less.
function(millrace_add_shards program)
  cmake_parse_arguments(ARG "" "NAME;FILTER" "LABELS;PROPERTIES" ${ARGN})
  if(NOT ARG_FILTER)
    set(ARG_FILTER "*")
  endif()
  foreach(shard 0 1)
    set(test ${ARG_NAME}.shard${shard})
    add_test(NAME ${test} COMMAND ${program} "--gtest_filter=${ARG_FILTER}" --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES ${ARG_PROPERTIES})
    set_property(TEST ${test} PROPERTY LABELS "${ARG_LABELS}")
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
      GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=${shard})
  endforeach()
endfunction()

# millrace_repeat_within_isas(TARGET [ISAS isa ...] [FILTER gtest_filter])
# Tests of a program once more, as ISA.TARGET, within these instruction sets: avx2 and avx512, where
# nothing is said. They compute in BF16 where these have it.
function(millrace_repeat_within_isas target)
  cmake_parse_arguments(ARG "" "FILTER" "ISAS" ${ARGN})
  if(NOT ARG_ISAS)
    set(ARG_ISAS avx2 avx512)
  endif()
  foreach(isa ${ARG_ISAS})
    millrace_add_shards(${target} NAME ${isa}.${target} FILTER "${ARG_FILTER}"
      PROPERTIES TIMEOUT 600 ENVIRONMENT MILLRACE_MAX_ISA=${isa}
      ENVIRONMENT_MODIFICATION MILLRACE_NO_BF16=set:0)
  endforeach()
endfunction()

# millrace_add_bench(NAME SOURCES ... [LIBS library ...])
function(millrace_add_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated/tests)
  target_link_libraries(${name} PRIVATE millrace ${ARG_LIBS} benchmark::benchmark millrace_settings)
endfunction()
