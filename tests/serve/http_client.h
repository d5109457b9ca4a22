// A client of HTTP for tests, over a plain socket: it sends what a test says, also what no library
// would. Blocks; a server that does not answer within 20 seconds fails the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace millrace::test {

struct HttpAnswer {
  int status = 0;                             // 0: the connection was closed without an answer
  std::map<std::string, std::string> fields;  // names in lower case
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(uint16_t port);
  // Connects to a Unix socket.
  explicit HttpClient(const std::string& path);
  virtual ~HttpClient() = default;
  HttpClient(HttpClient&&) = default;

  void send(std::string_view text);
  // Reads one answer.
  HttpAnswer receive();
  HttpAnswer ask(std::string_view text) {
    send(text);
    return receive();
  }
  HttpAnswer get(const std::string& path) { return ask("GET " + path + " HTTP/1.1\r\n\r\n"); }
  HttpAnswer post(const std::string& path, std::string_view body, const std::string& fields = "");

  // Whether the server closes the connection, after what it may still send.
  bool is_closed();
  void close() { socket_ = UniqueFd(); }

 protected:
  int socket() const { return socket_.get(); }
  // As those of sockets; a client of an encrypted connection has its own.
  virtual ssize_t send_some(std::string_view text);
  virtual ssize_t receive_some(std::span<char> to);

 private:
  void connect(int family, const void* address, size_t size);
  bool read_more();

  UniqueFd socket_;
  std::string read_;  // what was received and not taken
  bool timed_out_ = false;
};

// A POST with a body of stated length. `fields` are further lines of the header.
std::string post_text(const std::string& path, std::string_view body,
                      const std::string& fields = "");

}  // namespace millrace::test
