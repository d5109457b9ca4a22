#include "bench/serve/latency.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <stdexcept>
#include <string>

#include "bench/serve/messages.h"

namespace millrace::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

constexpr unsigned kWarmUp = 500;
constexpr std::chrono::seconds kTimeLimit{10};

template <class Ask>
std::vector<double> times_of(unsigned requests, Ask ask) {
  std::vector<double> times;
  times.reserve(requests);
  for (unsigned i = 0; i < kWarmUp + requests; ++i) {
    const auto begin = Clock::now();
    ask();
    if (i >= kWarmUp)
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return times;
}

}  // namespace

std::vector<double> http_times(uint16_t port, unsigned requests) {
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  socket.set_option(asio::ip::tcp::no_delay(true));
  boost::beast::flat_buffer buffer;
  const std::string request = http_request();
  return times_of(requests, [&] {
    asio::write(socket, asio::buffer(request));
    http::response_parser<http::string_body> answer;
    http::read(socket, buffer, answer);
    if (answer.get().result() != http::status::ok)
      throw std::runtime_error("the server answers " + answer.get().body());
  });
}

std::vector<double> grpc_times(uint16_t port, unsigned requests) {
  grpc::GenericStub stub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  const grpc::Slice bytes(grpc_request());
  const grpc::ByteBuffer request(&bytes, 1);
  grpc::CompletionQueue done;
  return times_of(requests, [&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kTimeLimit);
    grpc::ByteBuffer answer;
    grpc::Status status;
    const auto call = stub.PrepareUnaryCall(&context, "/inference.GRPCInferenceService/ModelInfer",
                                            request, &done);
    call->StartCall();
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    done.Next(&tag, &ok);
    if (!status.ok()) throw std::runtime_error("the server answers " + status.error_message());
  });
}

}  // namespace millrace::bench
