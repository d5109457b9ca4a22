// HttpExchange: requests of HTTP and their answers on one stream, which is plain or encrypted. One
// thread.
#pragma once

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/bench/remote/connection.h"

namespace millrace::cli {

template <class Stream>
class HttpExchange : public RemoteConnection {
 public:
  explicit HttpExchange(const RemoteServer& server) : server_(server) {}

  Status connect() override {
    deadline_ = std::chrono::steady_clock::now() + kRemoteLimit;
    if (stream_) return {};
    make(stream_, io_);
    buffer_.clear();
    boost::system::error_code error =
        await([&](auto handler) { lowest().async_connect(server_.endpoints, std::move(handler)); });
    if (error) return failure("connect to", error);
    boost::system::error_code ignored;
    lowest().socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    if (!is_encrypted()) return {};
    error = await([&](auto handler) { shake_hands(*stream_, std::move(handler)); });
    return error ? failure("agree on encryption with", error) : Status();
  }

  Result<RemoteAnswer> ask(const std::string& request, uint64_t most_body_bytes) override {
    if (stream_ && was_closed()) stream_.reset();
    MILLRACE_RETURN_IF_ERROR(connect());
    boost::system::error_code error = await([&](auto handler) {
      boost::asio::async_write(*stream_, boost::asio::buffer(request), std::move(handler));
    });
    // A server that refuses a request may answer before it has read all of it.
    if (error == boost::beast::error::timeout) return failure("send to", error);
    namespace http = boost::beast::http;
    http::response_parser<http::string_body> parser;
    parser.header_limit(kMostHeaderBytes);
    parser.body_limit(most_body_bytes);
    error = await(
        [&](auto handler) { http::async_read(*stream_, buffer_, parser, std::move(handler)); });
    if (error) return failure("read an answer of", error);
    auto& message = parser.get();
    RemoteAnswer answer{.status = message.result_int(), .body = std::move(message.body())};
    if (!message.keep_alive()) stream_.reset();
    return answer;
  }

 protected:
  using Handler = std::function<void(boost::system::error_code)>;

 private:
  static constexpr size_t kMostBufferBytes = 256 << 10;  // also of what is no header and no body
  static constexpr uint32_t kMostHeaderBytes = 64 << 10;

  virtual void make(std::optional<Stream>& stream, boost::asio::io_context& io) const = 0;
  virtual bool is_encrypted() const { return false; }
  virtual void shake_hands(Stream&, Handler) {}

  boost::beast::tcp_stream& lowest() { return boost::beast::get_lowest_layer(*stream_); }

  // Runs one operation to its end, or until the deadline.
  template <class Start>
  boost::system::error_code await(Start start) {
    boost::system::error_code outcome;
    lowest().expires_at(deadline_);
    start([&outcome](boost::system::error_code error, auto&&...) { outcome = error; });
    io_.restart();
    io_.run();
    return outcome;
  }

  Status failure(const char* what, boost::system::error_code error) {
    namespace http = boost::beast::http;
    stream_.reset();
    buffer_.clear();
    const bool is_late = error == boost::beast::error::timeout;
    const bool is_bad =
        error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message;
    const StatusCode code = is_late  ? StatusCode::kDeadlineExceeded
                            : is_bad ? StatusCode::kCorruptData
                                     : StatusCode::kIoError;
    return {code, fmt::format("cannot {} {}: {}", what, server_.host, error.message())};
  }

  // A server may close a connection between two requests, or have sent what nobody asked for. If it
  // is encrypted, that may be a part of the protocol.
  bool was_closed() {
    char byte = 0;
    const ssize_t got =
        ::recv(lowest().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 ? errno != EAGAIN : got == 0 || !is_encrypted();
  }

  const RemoteServer& server_;
  boost::asio::io_context io_{1};
  std::optional<Stream> stream_;
  boost::beast::flat_buffer buffer_{kMostBufferBytes};
  std::chrono::steady_clock::time_point deadline_;  // of the operations of connect() or ask()
};

}  // namespace millrace::cli
