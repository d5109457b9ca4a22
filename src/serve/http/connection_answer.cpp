// The answer to a request.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "serve/http/connection.h"

namespace millrace::serve {
namespace {

// A refused client may still be sending. What it sends is read and dropped for so long, since a
// connection that is closed with unread bytes loses the answer that lies in it.
constexpr std::chrono::seconds kLinger{2};
// Answers up to this size are written even if others take all memory for answers. The number of
// connections limits them.
constexpr uint64_t kSmallAnswer = 16 << 10;
// So much is read at once of the request behind the one that is being answered.
constexpr size_t kNextRequest = 2048;

HttpResponse busy_response(std::string_view message) {
  HttpResponse response = error_response(503, message);
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

uint64_t bytes_in_memory(const HttpResponse& response) {
  const size_t text = response.text.capacity();
  return std::max(body_size(response) - response.text.size(), response.held_bytes) + text;
}

}  // namespace

// Whoever answers has what it needs for that from the start, so that the answer cannot fail.
void Connection::dispatch() {
  reading_body_ = false;
  parser_.reset();
  stream_.expires_never();
  exchange_ = std::make_shared<Exchange>(weak_from_this());
  ++number_;
  if (shared_.handler.takes_long(request_, json_bytes_)) return hand_to_worker();
  Respond respond = respond_to(exchange_);
  std::shared_ptr<Work> work = shared_.handler.handle(std::move(request_), std::move(respond));
  if (!work) return;  // its answer is on its way, or nothing can end it
  exchange_->begin(std::move(work));
  watch();
}

Respond Connection::respond_to(std::shared_ptr<Exchange> exchange) const {
  return [exchange = std::move(exchange), answers = shared_.answers](HttpResponse response) {
    exchange->answer = std::move(response);
    answers->add(exchange);
  };
}

// The task does not refer to the connection, which may be closed before it runs.
void Connection::hand_to_worker() {
  auto request = std::make_shared<HttpRequest>(std::move(request_));
  ticket_ = shared_.workers.post([&handler = shared_.handler, exchange = exchange_, request,
                                  respond = respond_to(exchange_)]() mutable {
    exchange->begin(handler.handle(std::move(*request), std::move(respond)));
  });
  if (ticket_ != Workers::kNoTask) return watch();
  request_ = std::move(*request);
  end_exchange();
  refuse_by_limit(busy_response("too many requests wait for a thread that reads them"));
}

// Waits for the end of the stream, which means that the client has gone.
void Connection::watch() {
  if (stream_.has_tls()) return watch_tls();
  watching_ = true;
  stream_.socket().async_wait(Socket::wait_read,
                              then([number = number_](Connection& self, error_code error, size_t) {
                                if (!self.exchange_ || number != self.number_) return;
                                self.watching_ = false;
                                if (!error) self.on_readable();
                              }));
}

// The end lies within TLS, so what comes is read, which may be the next request instead. The read
// may have succeeded when it is cancelled, so what it has read is kept in any case. It may also go
// on after that, for the rest of a record. Until it has ended, the buffer is its own, and no other
// read or end of TLS begins.
void Connection::watch_tls() {
  if (buffer_.size() > 0) return;
  watching_ = true;
  tls_reading_ = true;
  stream_.async_read_some(
      buffer_.prepare(kNextRequest),
      then([number = number_](Connection& self, error_code error, size_t bytes) {
        self.on_watched(number, error, bytes);
      }));
}

void Connection::on_watched(uint64_t number, error_code error, size_t bytes) {
  tls_reading_ = false;
  buffer_.commit(bytes);
  if (after_watch_ != nullptr) return go_on_after_watch();
  if (!exchange_ || number != number_) return;
  watching_ = false;
  if (error) on_client_gone();
}

// If the client has gone, the next operation says so.
void Connection::go_on_after_watch() {
  watch_limit_.reset();
  (this->*std::exchange(after_watch_, nullptr))();
}

void Connection::on_readable() {
  char byte = 0;
  const ssize_t got = ::recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  // Otherwise it is the next request, which is read after this answer.
  if (gone) on_client_gone();
}

// A request that no worker has begun has nobody who would answer it.
void Connection::on_client_gone() {
  keep_ = false;
  exchange_->cancel();
  if (shared_.workers.withdraw(ticket_)) close();
}

void Connection::cancel_work() noexcept {
  if (exchange_) exchange_->cancel();
  if (!reading_body_ || body_stopped_) return;
  body_stopped_ = true;
  error_code ignored;
  stream_.socket().cancel(ignored);
}

void Connection::take_answer(Exchange& exchange) noexcept {
  if (&exchange != exchange_.get()) return;
  guarded([&] {
    end_exchange();
    body_share_.give_back();
    if (std::exchange(watching_, false)) {
      error_code ignored;
      stream_.socket().cancel(ignored);
    }
    const bool keep = keep_ && !shared_.closing;
    const uint64_t bytes = bytes_in_memory(exchange.answer);
    if (bytes <= kSmallAnswer || answer_share_.take(bytes))
      return write(std::move(exchange.answer), keep);
    write(counted_refusal(busy_response("other clients do not take their answers")), keep);
  });
}

void Connection::end_exchange() noexcept {
  if (!exchange_) return;
  exchange_->end();
  exchange_.reset();
  ticket_ = Workers::kNoTask;
}

void Connection::end_request() noexcept {
  body_share_.give_back();
  answer_share_.give_back();
  if (std::exchange(counted_, false)) shared_.requests.end();
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
  http::async_write(stream_, message, then([](Connection& self, error_code error, size_t) {
                      self.on_written(error);
                    }));
}

void Connection::on_written(error_code error) {
  const bool keep = response_->keep_alive();
  response_.reset();
  end_request();
  if (error) return on_error(error);
  if (tls_reading_)
    return keep ? end_watch(&Connection::await_request, seconds(shared_.limits.idle_seconds))
                : end_watch(&Connection::linger, kLinger);
  if (!keep) return linger();
  await_request();
}

void Connection::await_request() {
  if (buffer_.size() == 0) buffer_.shrink_to_fit();
  wait_for_request();
}

// The read was cancelled before, and has gone on. That may happen again, so there is a limit.
void Connection::end_watch(void (Connection::*next)(), std::chrono::nanoseconds limit) {
  after_watch_ = next;
  watch_limit_.emplace(stream_.get_executor(), limit);
  watch_limit_->async_wait(then([number = number_](Connection& self, error_code error, size_t) {
    if (!error && self.after_watch_ != nullptr && number == self.number_) self.close();
  }));
  error_code ignored;
  stream_.socket().cancel(ignored);
}

// With TLS the client is told first that this was all, and what it sends meanwhile is no error.
void Connection::linger() {
  stream_.expires_after(kLinger);
  chunk_.resize(kChunk);
  if (!stream_.has_tls()) return end_sending();
  stream_.async_shutdown(then([](Connection& self, error_code, size_t) { self.end_sending(); }));
}

void Connection::end_sending() {
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
  drop_rest();
}

void Connection::drop_rest() {
  stream_.async_read_raw(asio::buffer(chunk_), then([](Connection& self, error_code error, size_t) {
                           if (error) return self.close();
                           self.drop_rest();
                         }));
}

}  // namespace millrace::serve
