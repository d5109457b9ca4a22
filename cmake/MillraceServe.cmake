# The server (docs/serving.md) is an optional part: it is built where Boost.Beast, the Prometheus
# client library and OpenSSL are installed.
option(MILLRACE_BUILD_SERVE "Build the server, where its needs are met" ON)
if(MILLRACE_BUILD_SERVE)
  pkg_check_modules(PROMETHEUS IMPORTED_TARGET prometheus-cpp-core)
  find_path(MILLRACE_BEAST_INCLUDE boost/beast/http.hpp)
  mark_as_advanced(MILLRACE_BEAST_INCLUDE)
  find_package(OpenSSL QUIET)
  if(NOT PROMETHEUS_FOUND OR NOT MILLRACE_BEAST_INCLUDE OR NOT OPENSSL_FOUND)
    message(STATUS "millrace serve is not built: it needs Boost.Beast, prometheus-cpp and OpenSSL")
    set(MILLRACE_BUILD_SERVE OFF)
  endif()
endif()

# gRPC is an optional part of the server. The sanitizers' builds have it where it is asked for, but
# for ThreadSanitizer's: it sees nothing of the synchronisation in gRPC's libraries, and would report
# races between their threads.
set(with_grpc ON)
if(MILLRACE_SANITIZE)
  set(with_grpc OFF)
endif()
cmake_dependent_option(MILLRACE_SERVE_GRPC "Build the server with gRPC, where its needs are met"
  ${with_grpc} "MILLRACE_BUILD_SERVE;NOT MILLRACE_SANITIZE STREQUAL thread" OFF)
if(MILLRACE_SERVE_GRPC)
  pkg_check_modules(GRPC grpc++)
  find_program(MILLRACE_PROTOC protoc)
  find_program(MILLRACE_GRPC_PLUGIN grpc_cpp_plugin)
  mark_as_advanced(MILLRACE_PROTOC MILLRACE_GRPC_PLUGIN)
  if(NOT GRPC_FOUND OR NOT MILLRACE_PROTOC OR NOT MILLRACE_GRPC_PLUGIN)
    message(STATUS "millrace serve is built without gRPC: that needs libgrpc++-dev and "
      "protobuf-compiler-grpc")
    set(MILLRACE_SERVE_GRPC OFF)
  endif()
endif()
