// The answer to a request.
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>

#include "serve/http/connection.h"

namespace millrace::serve {
namespace {

// A refused client may still be sending. What it sends is read and dropped for so long, since a
// connection that is closed with unread bytes loses the answer that lies in it.
constexpr std::chrono::seconds kLinger{2};

}  // namespace

void Connection::dispatch() {
  parser_.reset();
  stream_.expires_never();
  ++number_;
  answering_ = true;
  counted_ = true;
  shared_.begin_answer();
  if (!shared_.handler.takes_long(request_, json_bytes_)) return on_work(begin_work());
  const auto ticket = shared_.workers.post([self = shared_from_this(), number = number_]() mutable {
    std::shared_ptr<Work> work = self->begin_work();
    asio::io_context& io = self->shared_.io;
    asio::post(io, [self = std::move(self), number, work = std::move(work)]() mutable {
      if (self->answering_ && self->number_ == number) self->on_work(std::move(work));
    });
  });
  if (ticket == Workers::kNoTask)
    on_response(number_, error_response(503, "too many requests wait to be read"));
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

}  // namespace millrace::serve
