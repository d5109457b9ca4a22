# millrace_link_opencv(TARGET MODULE...)
# TARGET includes OpenCV's headers and links these modules. Debian keeps OpenCV's CMake package in
# libopencv-dev, which pulls in over a gigabyte; the packages of the modules come without one.
find_path(OPENCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)

function(millrace_link_opencv target)
  target_include_directories(${target} SYSTEM PRIVATE ${OPENCV_INCLUDE_DIR})
  foreach(module IN LISTS ARGN)
    find_library(OPENCV_${module}_LIBRARY opencv_${module} REQUIRED)
    target_link_libraries(${target} PRIVATE ${OPENCV_${module}_LIBRARY})
  endforeach()
endfunction()
