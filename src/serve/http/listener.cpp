#include "serve/http/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

namespace millrace::serve {
namespace {

constexpr std::chrono::milliseconds kAcceptPause{50};

void turn_away(Socket socket) {
  static constexpr std::string_view kAnswer =
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
      "Content-Length: 0\r\n\r\n";
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(kAnswer.data(), kAnswer.size()), ignored);
}

}  // namespace

Status Listener::listen(const std::string& address, uint16_t port) {
  error_code error;
  const auto host = asio::ip::make_address(address, error);
  if (error) return invalid_argument(fmt::format("\"{}\" is no IP address", address));
  const tcp::endpoint endpoint(host, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(SOMAXCONN, error);
  if (error) return io_error(fmt::format("listen on {} port {}", address, port), error.value());
  endpoint_ = acceptor_.local_endpoint();
  return {};
}

void Listener::accept() {
  acceptor_.async_accept([this](error_code error, Socket socket) {
    if (!acceptor_.is_open()) return;
    if (error) return accept_later();
    take(std::move(socket));
    accept();
  });
}

// The system has no descriptor or no memory for another connection at the moment.
void Listener::accept_later() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](error_code error) {
    if (!error && acceptor_.is_open()) accept();
  });
}

void Listener::take(Socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (shared_.open >= shared_.limits.connections) return turn_away(std::move(socket));
  std::make_shared<Connection>(std::move(socket), shared_, all_)->begin();
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

}  // namespace millrace::serve
