// RemoteConnection: a connection to a server, which is kept for the next request. One thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

class RemoteProtocol;

struct RemoteServer {
  std::string host;  // for the field Host, with the port
  std::vector<boost::asio::ip::tcp::endpoint> endpoints;
  std::shared_ptr<const RemoteProtocol> protocol = {};  // null: plain HTTP
};

struct RemoteUrl {
  std::string scheme, authority, host, port;
};

// Parses SCHEME://HOST[:PORT], where the scheme is http, https, grpc or grpcs. kInvalidArgument for
// any other URL, and for one of gRPC without a port.
Result<RemoteUrl> parse_url(const std::string& url);

// Finds the server of the URL. The protocol is left to the caller. Errors: those of parse_url();
// kNotFound if there is no such host; kDeadlineExceeded if nobody says so within 10 s.
Result<RemoteServer> find_server(const std::string& url);

// The answer of HTTP, or what stands for it there.
struct RemoteAnswer {
  unsigned status = 0;
  std::string body;
};

// For a connection, or for an exchange. Servers that hang do not hang the tool.
inline constexpr std::chrono::seconds kRemoteLimit{30};

class RemoteConnection {
 public:
  virtual ~RemoteConnection() = default;
  // Connects, unless it is connected. kIoError names the reason.
  virtual Status connect() = 0;
  // Sends the text of a request and reads the answer, within the time limit. kDeadlineExceeded if
  // that takes longer; kIoError if the connection ends; kCorruptData if the answer is malformed or
  // too long. The connection is closed then.
  virtual Result<RemoteAnswer> ask(const std::string& request, uint64_t most_body_bytes) = 0;
  Result<RemoteAnswer> answer_to(const std::string& request) {
    return ask(request, kMostBodyBytes);
  }

 private:
  static constexpr uint64_t kMostBodyBytes = uint64_t{1} << 30;
};

// A connection that is not open yet. The server must outlive it.
std::unique_ptr<RemoteConnection> connection_to(const RemoteServer& server);

}  // namespace millrace::cli
