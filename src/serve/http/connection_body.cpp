// The body of a request.
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <string_view>

#include "serve/http/connection.h"

namespace millrace::serve {
namespace {

HttpResponse no_memory_response() {
  HttpResponse response = error_response(503, "there is not enough memory for the body");
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

// Accounts for memory of a body until the end of the request.
bool Connection::reserve(uint64_t bytes) {
  if (bytes > shared_.limits.all_bodies_bytes - shared_.body_bytes) return false;
  shared_.body_bytes += bytes;
  reserved_ += bytes;
  return true;
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

}  // namespace millrace::serve
