// The names of the HTTP library, Boost.Beast over Boost.Asio, that the sources of this folder use.
// Only they include it.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

namespace millrace::serve {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// Connections over TCP and over Unix sockets have one type.
using Protocol = asio::generic::stream_protocol;
using Stream = beast::basic_stream<Protocol, asio::io_context::executor_type>;
using Socket = Stream::socket_type;
using Clock = std::chrono::steady_clock;

inline std::chrono::nanoseconds seconds(double count) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(count));
}
}  // namespace millrace::serve
