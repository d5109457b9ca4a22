// ClientStream: the bytes of a connection, as they are or within TLS, with limits of time. One
// thread.
//
// It is a stream of Boost.Asio, so that the HTTP library reads and writes it. Buffers and handlers
// are as there.
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "serve/http/asio.h"

namespace millrace::serve {

class ClientStream {
 public:
  using executor_type = Stream::executor_type;

  // Null: no TLS. Otherwise the context must live while the stream is made, which keeps what it
  // uses of it. Throws std::exception if there is no memory for that.
  ClientStream(Socket socket, asio::ssl::context* tls) : plain_(std::move(socket)) {
    if (tls != nullptr) tls_.emplace(plain_, *tls);
  }

  executor_type get_executor() noexcept { return plain_.get_executor(); }
  Socket& socket() { return plain_.socket(); }
  bool has_tls() const { return tls_.has_value(); }

  // The limit of time for what begins afterwards.
  void expires_after(std::chrono::nanoseconds time) { plain_.expires_after(time); }
  void expires_never() { plain_.expires_never(); }
  void close() { plain_.close(); }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Handler>(handler));
    plain_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Handler>(handler));
    plain_.async_write_some(buffers, std::forward<Handler>(handler));
  }

  // With TLS only.
  template <class Handler>
  void async_handshake(Handler&& handler) {
    tls_->async_handshake(asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }
  // Tells the client that this was all, and waits for it to say the same.
  template <class Handler>
  void async_shutdown(Handler&& handler) {
    tls_->async_shutdown(std::forward<Handler>(handler));
  }
  // Reads what comes over the network, whatever it is.
  template <class Buffers, class Handler>
  void async_read_raw(const Buffers& buffers, Handler&& handler) {
    plain_.async_read_some(buffers, std::forward<Handler>(handler));
  }

 private:
  Stream plain_;
  std::optional<asio::ssl::stream<Stream&>> tls_;
};

}  // namespace millrace::serve
