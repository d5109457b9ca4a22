// The only source that includes the HTTP library, Boost.Beast over Boost.Asio.
//
// A connection is in one of these states, always on the thread of the server:
//
//   waiting for a request -> header -> body -> being answered -> writing -+
//            ^                                                            |
//            +------------------------------------------------------------+
//
// A body of stated length is read straight from the socket into the memory that the job will read.
#include "serve/http/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_set>

#include "base/log.h"
#include "base/process/thread.h"

namespace millrace::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

struct Workers::Pool {
  explicit Pool(unsigned threads) : pool(threads) {}
  asio::thread_pool pool;
};

Workers::Workers(unsigned threads) : pool_(std::make_unique<Pool>(threads)) {}
Workers::~Workers() {
  join();
}
void Workers::post(std::function<void()> work) {
  asio::post(pool_->pool, std::move(work));
}
void Workers::join() {
  pool_->pool.join();
}

namespace {

using Stream = beast::basic_stream<tcp, asio::io_context::executor_type>;
using Socket = Stream::socket_type;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
using Clock = std::chrono::steady_clock;

// A refused client may still be sending. What it sends is read and dropped for so long, since a
// connection that is closed with unread bytes loses the answer that lies in it.
constexpr std::chrono::seconds kLinger{2};
constexpr size_t kFirstRead = 2048;
constexpr size_t kChunk = 64 << 10;
constexpr size_t kReadAhead = 64 << 10;
constexpr std::chrono::milliseconds kAcceptPause{50};

// A body of several parts, which are written from where they lie.
struct PartsBody {
  using value_type = HttpResponse;

  static uint64_t size(const value_type& response) {
    uint64_t bytes = response.text.size();
    for (const auto& part : response.raw) bytes += part.size();
    return bytes;
  }

  class writer {
   public:
    using const_buffers_type = std::vector<asio::const_buffer>;

    template <bool kIsRequest, class HeaderFields>
    writer(const http::header<kIsRequest, HeaderFields>&, const value_type& response)
        : response_(response) {}

    void init(error_code& error) { error = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(error_code& error) {
      error = {};
      const_buffers_type parts = {asio::buffer(response_.text)};
      for (const auto& part : response_.raw) parts.emplace_back(part.data(), part.size());
      return {{std::move(parts), false}};
    }

   private:
    const value_type& response_;
  };
};

std::chrono::nanoseconds seconds(double count) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(count));
}

HttpResponse no_memory_response() {
  HttpResponse response = error_response(503, "there is not enough memory for the body");
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

// The state that the connections share. The server owns it.
struct Shared {
  Shared(const HttpLimits& all_limits, Handler& answers, Workers& threads,
         std::atomic<uint32_t>& connections)
      : limits(all_limits), handler(answers), workers(threads), open(connections) {}

  const HttpLimits limits;
  Handler& handler;
  Workers& workers;
  std::atomic<uint32_t>& open;
  std::atomic<bool> closing = false;

  // Counts requests from the end of their body to the end of their answer.
  std::mutex mutex;
  std::condition_variable all_answered;
  uint64_t being_answered = 0;

  uint64_t body_bytes = 0;  // of all bodies in memory; used on the thread only

  asio::io_context io{1};  // last, since what it drops when it is destroyed uses the others

  void begin_answer() {
    const std::lock_guard lock(mutex);
    ++being_answered;
  }
  void end_answer() {
    const std::lock_guard lock(mutex);
    if (--being_answered == 0) all_answered.notify_all();
  }
};

class Connection;
using Connections = std::unordered_set<std::shared_ptr<Connection>>;

// Only the thread of the server holds references that may be the last one: the set of all
// connections has one until the connection is closed, and the handlers of pending operations have
// others. So a connection is destroyed on that thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, Shared& shared, Connections& all)
      : shared_(shared),
        all_(all),
        stream_(std::move(socket)),
        buffer_(shared.limits.header_bytes + kReadAhead) {
    ++shared_.open;
  }
  ~Connection() { --shared_.open; }

  void begin() {
    all_.insert(shared_from_this());
    wait_for_request();
  }
  void cancel_work();
  void close();

 private:
  using Parser = http::request_parser<http::buffer_body>;

  void wait_for_request();
  void read_header();
  void on_header(error_code error);
  void take_header();
  void on_bad_header(error_code error);
  std::optional<HttpResponse> refuse_head();
  void begin_body();
  void write_continue();
  void read_body();
  void read_rest_of_body(size_t have);
  void read_chunks();
  void on_chunk(error_code error);
  void dispatch();
  std::shared_ptr<Work> begin_work();
  void on_work(std::shared_ptr<Work> work);
  void watch();
  void on_readable();
  void on_client_gone();
  void on_response(uint64_t request, HttpResponse response);
  void end_request();
  bool reserve(uint64_t bytes);
  void write(HttpResponse response, bool keep);
  void on_written(error_code error);
  void refuse(HttpResponse response);
  void linger();
  void drop_rest();

  Shared& shared_;
  Connections& all_;
  Stream stream_;
  // It holds what was read behind the last request, and is limited, since the size of a chunk and
  // the fields behind the last one are not.
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  size_t json_bytes_ = 0;    // of the body
  std::string chunks_;       // the body, while it comes in chunks
  std::vector<char> chunk_;  // the next one
  uint64_t number_ = 0;      // of the request that is being answered
  bool answering_ = false;   // whether its answer is awaited
  bool watching_ = false;    // whether a wait for readability is pending
  bool keep_ = false;        // whether the client wants another request afterwards
  bool counted_ = false;     // whether it is counted as being answered
  uint64_t reserved_ = 0;    // its part of the bytes of all bodies
  std::shared_ptr<Work> work_;
  std::optional<http::response<PartsBody>> response_;
};

void Connection::cancel_work() {
  if (work_) work_->cancel();
}

void Connection::close() {
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_both, ignored);
  stream_.close();
  cancel_work();
  end_request();
  all_.erase(shared_from_this());
}

// Accounts for memory of a body until the end of the request.
bool Connection::reserve(uint64_t bytes) {
  if (bytes > shared_.limits.all_bodies_bytes - shared_.body_bytes) return false;
  shared_.body_bytes += bytes;
  reserved_ += bytes;
  return true;
}

// Waits without a parser, so that an idle connection takes little memory.
void Connection::wait_for_request() {
  if (buffer_.size() > 0) return read_header();
  stream_.expires_after(seconds(shared_.limits.idle_seconds));
  stream_.async_read_some(buffer_.prepare(kFirstRead),
                          [self = shared_from_this()](error_code error, size_t bytes) {
                            if (error) return self->close();
                            self->buffer_.commit(bytes);
                            self->read_header();
                          });
}

void Connection::read_header() {
  keep_ = false;
  parser_.emplace();
  parser_->header_limit(shared_.limits.header_bytes);
  parser_->body_limit(shared_.limits.body_bytes);
  stream_.expires_after(seconds(shared_.limits.header_seconds));
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t) { self->on_header(error); });
}

bool is_chunked(std::string_view coding) {
  return beast::iequals(beast::string_view(coding.data(), coding.size()), "chunked");
}

void Connection::on_header(error_code error) {
  if (error) return on_bad_header(error);
  take_header();
  if (auto refusal = refuse_head()) return refuse(*std::move(refusal));
  begin_body();
}

// Errors of the HTTP library are answered; the others mean that there is nobody to answer.
void Connection::on_bad_header(error_code error) {
  if (error == http::error::header_limit)
    return refuse(error_response(
        431, fmt::format("the header is longer than {} bytes", shared_.limits.header_bytes)));
  if (error == http::error::body_limit)
    return refuse(error_response(
        413, fmt::format("the body is longer than {} bytes", shared_.limits.body_bytes)));
  const bool is_http =
      error.category() == http::make_error_code(http::error::bad_method).category();
  if (!is_http || error == http::error::end_of_stream || error == http::error::partial_message)
    return close();
  refuse(error_response(400, "this is no HTTP request: " + error.message()));
}

void Connection::take_header() {
  const auto& message = parser_->get();
  request_ = HttpRequest{};
  request_.arrival = Clock::now();
  request_.method = std::string(message.method_string());
  request_.target = std::string(message.target());
  for (const auto& field : message)
    request_.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
  keep_ = parser_->keep_alive();
}

// Decides by the header alone whether the body is worth reading.
std::optional<HttpResponse> Connection::refuse_head() {
  // The HTTP library would take the body in another coding for the next request.
  if (const auto coding = request_.field("Transfer-Encoding"); coding && !is_chunked(*coding)) {
    keep_ = false;
    return error_response(501, "the only Transfer-Encoding that is read is chunked");
  }
  const auto length = parser_->content_length();
  json_bytes_ = length ? static_cast<size_t>(*length) : 0;
  if (const auto text = request_.field(kJsonLengthField)) {
    const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), json_bytes_);
    if (bad != std::errc() || end != text->data() + text->size())
      return error_response(400, fmt::format("{} is no number of bytes", kJsonLengthField));
    if (length && json_bytes_ > *length)
      return error_response(400, fmt::format("{} is {}, and the body has {} bytes",
                                             kJsonLengthField, json_bytes_, *length));
  }
  return shared_.handler.refuse(request_);
}

void Connection::begin_body() {
  if (parser_->is_done()) return dispatch();
  stream_.expires_after(seconds(shared_.limits.body_seconds));
  if (const auto expected = request_.field("Expect"); expected && buffer_.size() == 0)
    return write_continue();
  read_body();
}

void Connection::write_continue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                    [self = shared_from_this()](error_code error, size_t) {
                      if (error) return self->close();
                      self->read_body();
                    });
}

void Connection::read_body() {
  const auto length = parser_->content_length();
  if (!length) return read_chunks();
  if (!reserve(*length) ||
      !MemoryBlock::allocate(static_cast<size_t>(*length), json_bytes_, request_.body))
    return refuse(no_memory_response());
  const size_t have =
      asio::buffer_copy(asio::buffer(request_.body.data(), request_.body.size()), buffer_.data());
  buffer_.consume(have);
  read_rest_of_body(have);
}

void Connection::read_rest_of_body(size_t have) {
  if (have == request_.body.size()) return dispatch();
  asio::async_read(stream_, asio::buffer(request_.body.data() + have, request_.body.size() - have),
                   [self = shared_from_this()](error_code error, size_t) {
                     if (error) return self->close();
                     self->dispatch();
                   });
}

void Connection::read_chunks() {
  chunk_.resize(kChunk);
  auto& body = parser_->get().body();
  body.data = chunk_.data();
  body.size = chunk_.size();
  http::async_read_some(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t) { self->on_chunk(error); });
}

void Connection::on_chunk(error_code error) {
  if (error == http::error::need_buffer) error = {};
  if (error) return on_bad_header(error);
  const size_t bytes = chunk_.size() - parser_->get().body().size;
  if (!reserve(bytes)) return refuse(no_memory_response());
  chunks_.append(chunk_.data(), bytes);
  if (!parser_->is_done()) return read_chunks();
  // Only now the length is known, so this body is copied once.
  if (!request_.field(kJsonLengthField)) json_bytes_ = chunks_.size();
  if (!MemoryBlock::allocate(chunks_.size(), json_bytes_, request_.body))
    return refuse(no_memory_response());
  std::memcpy(request_.body.data(), chunks_.data(), chunks_.size());
  chunks_ = {};
  chunk_ = {};
  dispatch();
}

void Connection::dispatch() {
  parser_.reset();
  stream_.expires_never();
  ++number_;
  answering_ = true;
  counted_ = true;
  shared_.begin_answer();
  if (!shared_.handler.takes_long(request_, json_bytes_)) return on_work(begin_work());
  shared_.workers.post([self = shared_from_this(), number = number_]() mutable {
    std::shared_ptr<Work> work = self->begin_work();
    asio::io_context& io = self->shared_.io;
    asio::post(io, [self = std::move(self), number, work = std::move(work)]() mutable {
      if (self->answering_ && self->number_ == number) self->on_work(std::move(work));
    });
  });
}

// Runs on the thread of the server or on a worker. Meanwhile nothing else touches the request.
std::shared_ptr<Work> Connection::begin_work() {
  auto respond = [weak = weak_from_this(), number = number_,
                  &io = shared_.io](HttpResponse response) {
    asio::post(io, [weak, number, response = std::move(response)]() mutable {
      if (const auto self = weak.lock()) self->on_response(number, std::move(response));
    });
  };
  return shared_.handler.handle(std::move(request_), std::move(respond));
}

void Connection::on_work(std::shared_ptr<Work> work) {
  if (!work) return;  // its answer is on its way
  work_ = std::move(work);
  watch();
}

// Waits for the end of the stream, which means that the client has gone.
void Connection::watch() {
  watching_ = true;
  stream_.socket().async_wait(Socket::wait_read,
                              [self = shared_from_this(), number = number_](error_code error) {
                                if (number != self->number_ || !self->answering_) return;
                                self->watching_ = false;
                                if (!error) self->on_readable();
                              });
}

void Connection::on_readable() {
  char byte = 0;
  const ssize_t got = ::recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  // Otherwise it is the next request, which is read after this answer.
  if (gone) on_client_gone();
}

void Connection::on_client_gone() {
  keep_ = false;
  cancel_work();
}

void Connection::on_response(uint64_t request, HttpResponse response) {
  if (request != number_ || !answering_) return;
  answering_ = false;
  work_.reset();
  if (std::exchange(watching_, false)) {
    error_code ignored;
    stream_.socket().cancel(ignored);
  }
  write(std::move(response), keep_ && !shared_.closing);
}

void Connection::end_request() {
  shared_.body_bytes -= std::exchange(reserved_, 0);
  if (std::exchange(counted_, false)) shared_.end_answer();
}

// The connection can go on only if there is nothing left to read of the request.
void Connection::refuse(HttpResponse response) {
  const bool is_read = parser_->is_done() && keep_ && !shared_.closing;
  parser_.reset();
  chunks_ = {};
  write(std::move(response), is_read);
}

void Connection::write(HttpResponse response, bool keep) {
  // A response to HEAD has no body. None of the protocol's calls is one, so the connection ends.
  if (request_.method == "HEAD") {
    response.text.clear();
    response.raw.clear();
    keep = false;
  }
  response_.emplace();
  auto& message = *response_;
  message.version(11);
  message.result(response.status);
  message.set(http::field::server, "millrace");
  if (!response.text.empty() || !response.raw.empty())
    message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.fields) message.set(name, value);
  message.body() = std::move(response);
  message.keep_alive(keep);
  message.prepare_payload();
  stream_.expires_after(seconds(shared_.limits.body_seconds));
  http::async_write(stream_, message, [self = shared_from_this()](error_code error, size_t) {
    self->on_written(error);
  });
}

void Connection::on_written(error_code error) {
  const bool keep = response_->keep_alive();
  response_.reset();
  end_request();
  if (error) return close();
  if (!keep) return linger();
  if (buffer_.size() == 0) buffer_.shrink_to_fit();
  wait_for_request();
}

void Connection::linger() {
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
  stream_.expires_after(kLinger);
  chunk_.resize(kChunk);
  drop_rest();
}

void Connection::drop_rest() {
  stream_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](error_code error, size_t) {
                            if (error) return self->close();
                            self->drop_rest();
                          });
}

// Connections beyond the soft limit of descriptors would be refused by the system.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpLimits& limits, Handler& handler, Workers& workers,
       std::atomic<uint32_t>& connections)
      : shared_(limits, handler, workers, connections), acceptor_(shared_.io), pause_(shared_.io) {}
  ~Impl() { stop(); }

  Status listen(const std::string& address, uint16_t port) {
    error_code error;
    const auto host = asio::ip::make_address(address, error);
    if (error) return invalid_argument(fmt::format("\"{}\" is no IP address", address));
    const tcp::endpoint endpoint(host, port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(SOMAXCONN, error);
    if (error) return io_error(fmt::format("listen on {} port {}", address, port), error.value());
    endpoint_ = acceptor_.local_endpoint();
    return {};
  }

  Status run() {
    raise_descriptor_limit();
    accept();
    auto thread = start_thread("millrace-http", [this] { serve_connections(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    return {};
  }

  void stop() {
    if (!thread_.joinable()) return;
    asio::post(shared_.io, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      const Connections all = all_;
      for (const auto& connection : all) connection->close();
      guard_.reset();
    });
    thread_.join();
  }

  void cancel_work() {
    asio::post(shared_.io, [this] {
      for (const auto& connection : all_) connection->cancel_work();
    });
  }

  bool wait_answered(Clock::time_point limit) {
    std::unique_lock lock(shared_.mutex);
    return shared_.all_answered.wait_until(lock, limit,
                                           [this] { return shared_.being_answered == 0; });
  }

  Shared& shared() { return shared_; }
  const tcp::endpoint& endpoint() const { return endpoint_; }

 private:
  // A handler that finds no memory throws, and leaves its own connection behind; the others go on.
  void serve_connections() {
    for (bool ended = false; !ended;) {
      try {
        shared_.io.run();
        ended = true;
      } catch (const std::exception& error) {
        log_format(LogLevel::kError, "serve", "a connection failed: {}", error.what());
      }
    }
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, Socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) return accept_later();
      take(std::move(socket));
      accept();
    });
  }

  // The system has no descriptor or no memory for another connection at the moment.
  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](error_code error) {
      if (!error && acceptor_.is_open()) accept();
    });
  }

  void take(Socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (shared_.open >= shared_.limits.connections) return turn_away(std::move(socket));
    std::make_shared<Connection>(std::move(socket), shared_, all_)->begin();
  }

  static void turn_away(Socket socket) {
    static constexpr std::string_view kAnswer =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
        "Content-Length: 0\r\n\r\n";
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(kAnswer.data(), kAnswer.size()), ignored);
  }

  Connections all_;  // used on the thread only
  Shared shared_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_{shared_.io.get_executor()};
  Acceptor acceptor_;
  asio::steady_timer pause_;
  tcp::endpoint endpoint_;
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, uint16_t port,
                                                      const HttpLimits& limits, Handler& handler,
                                                      Workers& workers,
                                                      std::atomic<uint32_t>& connections) {
  auto impl = std::make_unique<Impl>(limits, handler, workers, connections);
  MILLRACE_RETURN_IF_ERROR(impl->listen(address, port));
  MILLRACE_RETURN_IF_ERROR(impl->run());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

std::string HttpServer::url() const {
  const std::string host = impl_->endpoint().address().to_string();
  if (impl_->endpoint().address().is_v6()) return fmt::format("http://[{}]:{}", host, port());
  return fmt::format("http://{}:{}", host, port());
}

uint16_t HttpServer::port() const {
  return impl_->endpoint().port();
}

void HttpServer::close_after_answers() {
  impl_->shared().closing = true;
}

bool HttpServer::wait_answered(std::chrono::steady_clock::time_point limit) {
  return impl_->wait_answered(limit);
}

void HttpServer::cancel_work() {
  impl_->cancel_work();
}

void HttpServer::stop() {
  impl_->stop();
}

}  // namespace millrace::serve
