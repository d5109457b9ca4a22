// RemoteConnection: a connection to a server, which is kept for the next request. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct RemoteServer {
  std::string host;  // for the field Host, with the port
  std::vector<boost::asio::ip::tcp::endpoint> endpoints;
};

struct RemoteUrl {
  std::string authority, host, port;
};

// Parses http://HOST[:PORT]. kUnsupported for gRPC and TLS, kInvalidArgument for any other URL.
Result<RemoteUrl> parse_url(const std::string& url);

// Finds the server of the URL. Errors: those of parse_url(); kNotFound if there is no such host;
// kDeadlineExceeded if nobody says so within 10 s.
Result<RemoteServer> find_server(const std::string& url);

struct RemoteAnswer {
  unsigned status = 0;
  std::string body;
};

class RemoteConnection {
 public:
  // The server must outlive the connection.
  explicit RemoteConnection(const RemoteServer& server) : server_(server) {}

  // Connects, unless it is connected. kIoError names the reason.
  Status connect();
  // Sends the text of a request and reads the answer, within 30 s. kDeadlineExceeded if that takes
  // longer;
  // kIoError if the connection ends; kCorruptData if the answer is malformed or too long. The
  // connection is closed then.
  Result<RemoteAnswer> ask(const std::string& request, uint64_t most_body_bytes = kMostBodyBytes);

 private:
  static constexpr uint64_t kMostBodyBytes = uint64_t{1} << 30;
  static constexpr size_t kMostBufferBytes = 256 << 10;  // also of what is no header and no body

  template <class Start>
  boost::system::error_code await(Start start);
  Status failure(const char* what, boost::system::error_code error);
  bool was_closed();

  const RemoteServer& server_;
  boost::asio::io_context io_{1};
  std::optional<boost::beast::tcp_stream> stream_;
  boost::beast::flat_buffer buffer_{kMostBufferBytes};
  std::chrono::steady_clock::time_point deadline_;  // of the operations of connect() or ask()
};

}  // namespace millrace::cli
