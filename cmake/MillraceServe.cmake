# The server (docs/serving.md) is an optional part: it is built where Boost.Beast and the Prometheus
# client library are installed.
option(MILLRACE_BUILD_SERVE "Build the server, where its needs are met" ON)
if(MILLRACE_BUILD_SERVE)
  pkg_check_modules(PROMETHEUS IMPORTED_TARGET prometheus-cpp-core)
  find_path(MILLRACE_BEAST_INCLUDE boost/beast/http.hpp)
  mark_as_advanced(MILLRACE_BEAST_INCLUDE)
  if(NOT PROMETHEUS_FOUND OR NOT MILLRACE_BEAST_INCLUDE)
    message(STATUS "millrace serve is not built: it needs Boost.Beast and prometheus-cpp")
    set(MILLRACE_BUILD_SERVE OFF)
  endif()
endif()
