#include "cli/bench/remote/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <string_view>
#include <utility>

#include "cli/bench/remote/name_lookup.h"

namespace millrace::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

// For a connection, or for an exchange. Servers that hang do not hang the tool.
constexpr std::chrono::seconds kTimeLimit{30};
// For the address of a host. Resolvers answer within a second or two, or not at all.
constexpr std::chrono::seconds kLookupLimit{10};
constexpr uint32_t kMostHeaderBytes = 64 << 10;

}  // namespace

Result<RemoteUrl> parse_url(const std::string& url) {
  static constexpr std::string_view kScheme = "http://";
  std::string_view rest = url;
  if (url.starts_with("grpc://") || url.starts_with("grpcs://"))
    return Status(StatusCode::kUnsupported,
                  "--url loads servers over HTTP, not over gRPC: give the HTTP port of the server, "
                  "as http://HOST:PORT");
  if (url.starts_with("https://"))
    return Status(StatusCode::kUnsupported,
                  "--url has no TLS: give a port of the server without it, as http://HOST:PORT");
  const Status wrong = invalid_argument("--url must be http://HOST:PORT, not " + url);
  if (!rest.starts_with(kScheme)) return wrong;
  rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string_view::npos && rest.find(']', colon) == rest.npos;
  std::string_view host = has_port ? rest.substr(0, colon) : rest;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  RemoteUrl parsed{.authority = std::string(rest),
                   .host = std::string(host),
                   .port = std::string(has_port ? rest.substr(colon + 1) : "80")};
  if (parsed.host.empty() || parsed.port.empty() || rest.find_first_of("/?#@ \r\n") != rest.npos)
    return wrong;
  return parsed;
}

Result<RemoteServer> find_server(const std::string& url) {
  MILLRACE_ASSIGN_OR_RETURN(const RemoteUrl parsed, parse_url(url));
  RemoteServer server{.host = parsed.authority, .endpoints = {}};
  auto found = within(kLookupLimit, [parsed] { return look_up(parsed.host, parsed.port); });
  if (!found.ok()) return found.status().with_context("cannot find " + url);
  server.endpoints = *std::move(found);
  return server;
}

// Runs one operation to its end, or until the deadline.
template <class Start>
error_code RemoteConnection::await(Start start) {
  error_code outcome;
  stream_->expires_at(deadline_);
  start([&outcome](error_code error, auto&&...) { outcome = error; });
  io_.restart();
  io_.run();
  return outcome;
}

Status RemoteConnection::failure(const char* what, error_code error) {
  stream_.reset();
  buffer_.clear();
  const bool is_late = error == beast::error::timeout;
  const bool is_bad =
      error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message;
  const StatusCode code = is_late  ? StatusCode::kDeadlineExceeded
                          : is_bad ? StatusCode::kCorruptData
                                   : StatusCode::kIoError;
  return {code, fmt::format("cannot {} {}: {}", what, server_.host, error.message())};
}

Status RemoteConnection::connect() {
  deadline_ = std::chrono::steady_clock::now() + kTimeLimit;
  if (stream_) return {};
  stream_.emplace(io_);
  buffer_.clear();
  const error_code error =
      await([&](auto handler) { stream_->async_connect(server_.endpoints, std::move(handler)); });
  if (error) return failure("connect to", error);
  error_code ignored;
  stream_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  return {};
}

// A server may close a connection between two requests, or have sent what nobody asked for.
bool RemoteConnection::was_closed() {
  char byte = 0;
  const auto socket = stream_->socket().native_handle();
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

Result<RemoteAnswer> RemoteConnection::ask(const std::string& request, uint64_t most_body_bytes) {
  if (stream_ && was_closed()) stream_.reset();
  MILLRACE_RETURN_IF_ERROR(connect());
  error_code error = await([&](auto handler) {
    asio::async_write(*stream_, asio::buffer(request), std::move(handler));
  });
  // A server that refuses a request may answer before it has read all of it.
  if (error == beast::error::timeout) return failure("send to", error);
  http::response_parser<http::string_body> parser;
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(most_body_bytes);
  error =
      await([&](auto handler) { http::async_read(*stream_, buffer_, parser, std::move(handler)); });
  if (error) return failure("read an answer of", error);
  auto& message = parser.get();
  RemoteAnswer answer{.status = message.result_int(), .body = std::move(message.body())};
  if (!message.keep_alive()) stream_.reset();
  return answer;
}

}  // namespace millrace::cli
