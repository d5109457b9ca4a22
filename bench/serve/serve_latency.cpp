// The latency of one client that asks a server for small inferences, and servers to compare with.
//
//   serve_latency echo THREADS   servers of HTTP and gRPC that only echo, until a signal ends them;
//                                each request passes THREADS more threads before its answer
//   serve_latency http PORT N    the median of N requests of models/glyphs, in microseconds
//   serve_latency grpc PORT N    the same over gRPC
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/median.h"
#include "bench/serve/echo.h"
#include "bench/serve/latency.h"

namespace millrace::bench {
namespace {

template <class T>
T number(std::string_view text) {
  T value{};
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("\"{}\" is no number", text));
  return value;
}

[[noreturn]] void echo(unsigned threads) {
  Relay relay(threads);
  const EchoHttp http(relay);
  const EchoGrpc grpc(relay);
  fmt::print("http {} grpc {}\n", http.port(), grpc.port());
  std::fflush(stdout);
  while (true) ::pause();
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "echo" && argc == 3) echo(number<unsigned>(argv[2]));
  const bool is_http = what == "http";
  if ((!is_http && what != "grpc") || argc != 4) {
    fmt::print(stderr, "usage: serve_latency echo THREADS | http PORT N | grpc PORT N\n");
    return 2;
  }
  const auto port = number<uint16_t>(argv[2]);
  const auto requests = number<unsigned>(argv[3]);
  fmt::print("{:.1f}\n", median(is_http ? http_times(port, requests) : grpc_times(port, requests)));
  return 0;
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  try {
    return millrace::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "serve_latency: {}\n", error.what());
    return 1;
  }
}
