#include "tests/serve/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>

namespace millrace::test {

HttpClient::HttpClient(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(AF_INET, &address, sizeof address);
}

HttpClient::HttpClient(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  connect(AF_UNIX, &address, sizeof address);
}

void HttpClient::connect(int family, const void* address, size_t size) {
  socket_ = UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  EXPECT_EQ(
      ::connect(socket_.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)),
      0);
}

// The server may have closed a connection before all was sent; its answer says why.
void HttpClient::send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send_some(text);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

ssize_t HttpClient::send_some(std::string_view text) {
  return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

ssize_t HttpClient::receive_some(std::span<char> to) {
  return ::recv(socket_.get(), to.data(), to.size(), 0);
}

bool HttpClient::read_more() {
  std::array<char, 4096> some;
  const ssize_t got = receive_some(some);
  timed_out_ = got < 0 && errno == EAGAIN;
  if (got <= 0) return false;
  read_.append(some.data(), static_cast<size_t>(got));
  return true;
}

HttpAnswer HttpClient::receive() {
  while (read_.find("\r\n\r\n") == std::string::npos)
    if (!read_more()) return {};
  HttpAnswer answer;
  const size_t end = read_.find("\r\n\r\n");
  answer.status = std::atoi(read_.substr(read_.find(' ')).c_str());
  for (size_t at = read_.find("\r\n") + 2; at < end;) {
    const size_t line_end = read_.find("\r\n", at);
    const size_t colon = read_.find(": ", at);
    std::string name = read_.substr(at, colon - at);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    answer.fields[name] = read_.substr(colon + 2, line_end - colon - 2);
    at = line_end + 2;
  }
  read_.erase(0, end + 4);
  const size_t length = std::strtoul(answer.fields["content-length"].c_str(), nullptr, 10);
  while (read_.size() < length)
    if (!read_more()) return {};
  answer.body = read_.substr(0, length);
  read_.erase(0, length);
  return answer;
}

HttpAnswer HttpClient::post(const std::string& path, std::string_view body,
                            const std::string& fields) {
  return ask(post_text(path, body, fields));
}

bool HttpClient::is_closed() {
  while (read_more()) {
  }
  return !timed_out_;
}

std::string post_text(const std::string& path, std::string_view body, const std::string& fields) {
  return "POST " + path + " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         fields + "\r\n" + std::string(body);
}

}  // namespace millrace::test
