// Connection: reads the requests of one client and writes their answers. It is in one of these
// states, always on the thread of the server, after the handshake of TLS if there is one:
//
//   waiting for a request -> header -> body -> being answered -> writing -+
//            ^                                                            |
//            +------------------------------------------------------------+
//
// A body of stated length is read straight from the socket into the memory that the job will read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "serve/http/asio.h"
#include "serve/http/byte_budget.h"
#include "serve/http/client_stream.h"
#include "serve/http/exchange.h"
#include "serve/http/message.h"
#include "serve/http/parts_body.h"
#include "serve/http/shared_state.h"

namespace millrace::serve {

class Connection;
using Connections = std::unordered_set<std::shared_ptr<Connection>>;

// Only the thread of the server holds references that may be the last one: the set of all
// connections has one until the connection is closed, and the handlers of pending operations have
// others. So a connection is destroyed on that thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `tls` may be null, and must otherwise live while the connection is made.
  Connection(Socket socket, asio::ssl::context* tls, Shared& shared, Connections& all);
  ~Connection();

  // Throws std::bad_alloc; the connection is then closed.
  void begin();
  // Takes the answer of an exchange that this connection began.
  void take_answer(Exchange& exchange) noexcept;
  // Ends the request at work, if there is one: its job is cancelled, or its body is not awaited any
  // longer. It is answered.
  void cancel_work() noexcept;
  void close() noexcept;

 private:
  using Parser = http::request_parser<http::buffer_body>;
  static constexpr size_t kChunk = 64 << 10;  // what is read at once
  static constexpr unsigned kTooSlow = 408;   // counted, and never answered

  template <class Step>
  class Handler;
  template <class Step>
  auto then(Step step);
  template <class Step>
  void guarded(Step step) noexcept;
  void fail(const char* reason) noexcept;
  void on_error(error_code error) noexcept;

  void shake_hands();
  void wait_for_request();
  void read_header();
  void on_header(error_code error);
  void take_header();
  void on_bad_header(error_code error);
  std::optional<HttpResponse> refuse_head();
  void refuse(HttpResponse response);
  void refuse_by_limit(HttpResponse response);
  HttpResponse counted_refusal(HttpResponse response);
  void count_refusal(unsigned status) noexcept;

  void begin_body();
  void write_continue();
  void read_body();
  bool grow_body();
  void read_more_of_body();
  void on_body(error_code error, size_t bytes);
  void read_chunks();
  void on_chunk(error_code error);
  void take_chunks();
  void stop_body();

  void dispatch();
  Respond respond_to(std::shared_ptr<Exchange> exchange) const;
  void hand_to_worker();
  void watch();
  void watch_tls();
  void on_watched(uint64_t number, error_code error, size_t bytes);
  void go_on_after_watch();
  void on_readable();
  void on_client_gone();
  void end_exchange() noexcept;
  void end_request() noexcept;
  void write(HttpResponse response, bool keep);
  void on_written(error_code error);
  void await_request();
  void end_watch(void (Connection::*next)(), std::chrono::nanoseconds limit);
  void linger();
  void end_sending();
  void drop_rest();

  Shared& shared_;
  Connections& all_;
  ClientStream stream_;
  const std::string remote_;  // address and port of the client
  // It holds what was read behind the last request, and is limited, since the size of a chunk and
  // the fields behind the last one are not.
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  size_t json_bytes_ = 0;      // of the body
  size_t body_bytes_ = 0;      // stated by the header
  size_t body_arrived_ = 0;    // of them
  std::string chunks_;         // the body, while it comes in chunks
  std::vector<char> chunk_;    // the next one
  bool reading_body_ = false;  // whether a read of the body is pending
  bool body_stopped_ = false;  // whether the end of the server has ended that
  bool watching_ = false;      // whether the end of the client is awaited
  bool tls_reading_ = false;   // whether the read that awaits it within TLS is pending
  void (Connection::*after_watch_)() = nullptr;    // what goes on when that read has ended
  std::optional<asio::steady_timer> watch_limit_;  // of the time until then
  bool keep_ = false;                   // whether the client wants another request afterwards
  bool counted_ = false;                // whether the request is counted as open
  ByteShare body_share_;                // of the memory for all bodies
  ByteShare answer_share_;              // of the memory for all answers
  std::shared_ptr<Exchange> exchange_;  // null unless the request is being answered
  uint64_t number_ = 0;                 // of that request
  Workers::Ticket ticket_ = Workers::kNoTask;  // if it waits for a worker
  std::optional<http::response<PartsBody>> response_;
};

// The handler of an operation, which keeps the connection. If the operation finds no memory to go
// on, the library destroys its handler without calling it; then the destructor closes the
// connection.
template <class Step>
class Connection::Handler {
 public:
  Handler(std::shared_ptr<Connection> connection, Step step)
      : connection_(std::move(connection)), step_(std::move(step)) {}
  Handler(Handler&&) noexcept = default;
  Handler& operator=(Handler&&) = delete;
  ~Handler() {
    if (connection_ && !connection_->shared_.ended) connection_->close();
  }

  void operator()(error_code error, size_t bytes = 0) {
    const auto connection = std::exchange(connection_, nullptr);
    connection->guarded([&] { step_(*connection, error, bytes); });
  }

 private:
  std::shared_ptr<Connection> connection_;
  Step step_;
};

// Makes a handler from a step, which is called with the connection and the outcome.
template <class Step>
auto Connection::then(Step step) {
  return Handler<Step>(shared_from_this(), std::move(step));
}

// A connection that finds no memory is closed, and the others go on.
template <class Step>
void Connection::guarded(Step step) noexcept {
  try {
    step();
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

}  // namespace millrace::serve
