// Listener: accepts connections on one address or one Unix socket, always on the thread of the
// server.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "serve/http/asio.h"
#include "serve/http/connection.h"
#include "serve/http/shared_state.h"

namespace millrace::serve {

class Listener {
 public:
  // The objects must outlive the listener and its connections, except for `tls`, which may be null
  // and must live as long as the listener uses it.
  Listener(Shared& shared, Connections& all, asio::ssl::context* tls)
      : shared_(shared), all_(all), tls_(tls), acceptor_(shared.io), pause_(shared.io) {}

  ~Listener() { close(); }

  // kInvalidArgument for an address that is none; kIoError, with the reason, if it cannot listen.
  Status listen(const std::string& address, uint16_t port);
  // Listens on a Unix socket, whose file is removed by close(). Replaces one that nobody listens
  // on. Errors as above.
  Status listen_at(const std::string& path);
  // Connections from now on use this context, which must live as long as the listener uses it.
  void use_tls(asio::ssl::context* tls) { tls_ = tls; }
  // Goes on accepting, unless it does already. Throws std::bad_alloc.
  void resume();
  void close();

  const tcp::endpoint& endpoint() const { return endpoint_; }

 private:
  using Acceptor = asio::basic_socket_acceptor<Protocol, asio::io_context::executor_type>;

  error_code bind(const Protocol::endpoint& endpoint);
  class Waiting;
  void accept();
  void accept_later();
  void take(Socket socket);
  void turn_away(Socket socket);

  Shared& shared_;
  Connections& all_;
  asio::ssl::context* tls_;
  Acceptor acceptor_;
  asio::steady_timer pause_;
  tcp::endpoint endpoint_;  // with the port that was chosen
  std::string path_;        // of the Unix socket; empty: none
  bool waiting_ = false;    // for a connection, or for the end of a pause
};

}  // namespace millrace::serve
