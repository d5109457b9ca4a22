// Listener: accepts connections on one address, always on the thread of the server.
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
  // Both must outlive the listener.
  Listener(Shared& shared, Connections& all)
      : shared_(shared), all_(all), acceptor_(shared.io), pause_(shared.io) {}

  // kInvalidArgument for an address that is none; kIoError, with the reason, if it cannot listen.
  Status listen(const std::string& address, uint16_t port);
  void accept();
  void close();

  const tcp::endpoint& endpoint() const { return endpoint_; }

 private:
  using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

  void accept_later();
  void take(Socket socket);

  Shared& shared_;
  Connections& all_;
  Acceptor acceptor_;
  asio::steady_timer pause_;
  tcp::endpoint endpoint_;
};

}  // namespace millrace::serve
