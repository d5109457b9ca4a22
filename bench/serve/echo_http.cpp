#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "bench/serve/echo.h"
#include "bench/serve/messages.h"

namespace millrace::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, asio::io_context& io, Relay& relay)
      : stream_(std::move(socket)), io_(io), relay_(relay) {}

  void read() {
    parser_.emplace();
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, size_t) {
                       if (!error) self->answer();
                     });
  }

 private:
  void answer() {
    relay_.pass([self = shared_from_this()] { asio::post(self->io_, [self] { self->write(); }); });
  }

  void write() {
    response_ = {};
    response_.result(http::status::ok);
    response_.body() = answer_bytes();
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->read();
    });
  }

  beast::tcp_stream stream_;
  asio::io_context& io_;
  Relay& relay_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

class EchoHttp::Impl {
 public:
  explicit Impl(Relay& relay) : relay_(relay) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Impl() {
    io_.stop();
    thread_.join();
  }
  uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return;
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<Connection>(std::move(socket), io_, relay_)->read();
      accept();
    });
  }

  Relay& relay_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

EchoHttp::EchoHttp(Relay& relay) : impl_(std::make_unique<Impl>(relay)) {}
EchoHttp::~EchoHttp() = default;

uint16_t EchoHttp::port() const {
  return impl_->port();
}

}  // namespace millrace::bench
