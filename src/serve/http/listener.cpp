#include "serve/http/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "serve/http/remote.h"

namespace millrace::serve {
namespace {

constexpr std::chrono::milliseconds kAcceptPause{50};

// Removes the file of a socket that a server has left behind, which is one that refuses.
void remove_unused_socket(const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return;
  const int outcome =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (outcome != 0 && errno == ECONNREFUSED) ::unlink(path.c_str());
}

}  // namespace

// Says that a listener waits, as long as the handler that holds it may be called. If the library
// finds no memory to go on, it destroys a handler without calling it.
class Listener::Waiting {
 public:
  explicit Waiting(Listener& listener) : listener_(&listener) { listener_->waiting_ = true; }
  Waiting(Waiting&& other) noexcept : listener_(std::exchange(other.listener_, nullptr)) {}
  Waiting& operator=(Waiting&&) = delete;
  ~Waiting() { end(); }

  void end() noexcept {
    if (listener_) std::exchange(listener_, nullptr)->waiting_ = false;
  }

 private:
  Listener* listener_;
};

error_code Listener::bind(const Protocol::endpoint& endpoint) {
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(SOMAXCONN, error);
  return error;
}

Status Listener::listen(const std::string& address, uint16_t port) {
  error_code error;
  const auto host = asio::ip::make_address(address, error);
  if (error) return invalid_argument(fmt::format("\"{}\" is no IP address", address));
  error = bind(tcp::endpoint(host, port));
  if (error) return io_error(fmt::format("listen on {} port {}", address, port), error.value());
  const auto chosen = acceptor_.local_endpoint();
  endpoint_.resize(chosen.size());
  std::memcpy(endpoint_.data(), chosen.data(), chosen.size());
  return {};
}

Status Listener::listen_at(const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return invalid_argument(fmt::format("the path of the Unix socket has more than {} bytes: {}",
                                        sizeof(sockaddr_un::sun_path) - 1, path));
  remove_unused_socket(path);
  const error_code error = bind(asio::local::stream_protocol::endpoint(path));
  if (error) return io_error("listen on " + path, error.value());
  path_ = path;
  return {};
}

void Listener::resume() {
  if (acceptor_.is_open() && !waiting_) accept();
}

void Listener::accept() {
  acceptor_.async_accept([this, waiting = Waiting(*this)](error_code error, Socket socket) mutable {
    waiting.end();
    if (!acceptor_.is_open()) return;
    if (error) return accept_later();
    take(std::move(socket));
    accept();
  });
}

// The system has no descriptor or no memory for another connection at the moment.
void Listener::accept_later() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this, waiting = Waiting(*this)](error_code error) mutable {
    waiting.end();
    if (!error) resume();
  });
}

void Listener::take(Socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (shared_.open >= shared_.limits.connections) return turn_away(std::move(socket));
  try {
    std::make_shared<Connection>(std::move(socket), tls_, shared_, all_)->begin();
  } catch (const std::exception&) {
    // The socket was moved from, and is closed, unless there was no memory for the connection.
    if (socket.is_open()) turn_away(std::move(socket));
  }
}

void Listener::turn_away(Socket socket) {
  static constexpr std::string_view kAnswer =
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
      "Content-Length: 0\r\n\r\n";
  HttpRequest unread;
  try {
    unread.origin.remote = remote_of(socket);
  } catch (const std::exception&) {
    // Without memory the client is turned away without its address in the log.
  }
  shared_.handler.refused(unread, 503);
  if (tls_ != nullptr) return;  // a client that expects TLS does not understand the answer
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(kAnswer.data(), kAnswer.size()), ignored);
}

void Listener::close() {
  if (acceptor_.is_open() && !path_.empty()) ::unlink(path_.c_str());
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

}  // namespace millrace::serve
