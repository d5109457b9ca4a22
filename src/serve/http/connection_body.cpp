// The body of a request.
#include <algorithm>
#include <boost/asio/write.hpp>
#include <cstring>
#include <string_view>

#include "serve/http/connection.h"

namespace millrace::serve {
namespace {

// A body gets this much memory at first, and then as many times what has arrived, so that a stated
// length alone takes little. Most bodies fit into the first block; others are copied while they
// grow, an eighth of their bytes at most.
constexpr size_t kFirstBlock = 1 << 20;
constexpr size_t kGrowth = 8;
// A body is read in steps, and each is charged to the memory for all bodies when it has arrived.
constexpr size_t kMostAtOnce = 1 << 20;

HttpResponse no_memory_response() {
  HttpResponse response = error_response(503, "there is not enough memory for the body");
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

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
                    then([](Connection& self, error_code error, size_t) {
                      if (error) return self.on_error(error);
                      self.read_body();
                    }));
}

void Connection::read_body() {
  reading_body_ = true;
  if (!parser_->content_length()) return read_chunks();
  body_arrived_ = 0;
  if (!grow_body()) return refuse_by_limit(no_memory_response());
  const size_t have =
      asio::buffer_copy(asio::buffer(request_.body.data(), request_.body.size()), buffer_.data());
  buffer_.consume(have);
  on_body({}, have);
}

// Makes room for more of the body, unless there is some.
bool Connection::grow_body() {
  if (body_arrived_ < request_.body.size()) return true;
  MemoryBlock larger;
  const size_t size = std::min(body_bytes_, std::max(kFirstBlock, body_arrived_ * kGrowth));
  if (!MemoryBlock::allocate(size, json_bytes_, larger)) return false;
  if (body_arrived_ > 0) std::memcpy(larger.data(), request_.body.data(), body_arrived_);
  request_.body = std::move(larger);
  return true;
}

void Connection::read_more_of_body() {
  const size_t room = std::min(request_.body.size() - body_arrived_, kMostAtOnce);
  stream_.async_read_some(
      asio::buffer(request_.body.data() + body_arrived_, room),
      then([](Connection& self, error_code error, size_t bytes) { self.on_body(error, bytes); }));
}

void Connection::on_body(error_code error, size_t bytes) {
  if (body_stopped_) return stop_body();
  if (error) return on_error(error);
  body_arrived_ += bytes;
  if (!body_share_.take(bytes)) return refuse_by_limit(no_memory_response());
  if (body_arrived_ == body_bytes_) return dispatch();
  if (!grow_body()) return refuse_by_limit(no_memory_response());
  read_more_of_body();
}

void Connection::read_chunks() {
  chunk_.resize(kChunk);
  auto& body = parser_->get().body();
  body.data = chunk_.data();
  body.size = chunk_.size();
  http::async_read_some(
      stream_, buffer_, *parser_,
      then([](Connection& self, error_code error, size_t) { self.on_chunk(error); }));
}

void Connection::on_chunk(error_code error) {
  if (body_stopped_) return stop_body();
  if (error == http::error::need_buffer) error = {};
  if (error) return on_bad_header(error);
  const size_t bytes = chunk_.size() - parser_->get().body().size;
  if (!body_share_.take(bytes)) return refuse_by_limit(no_memory_response());
  chunks_.append(chunk_.data(), bytes);
  if (!parser_->is_done()) return read_chunks();
  take_chunks();
}

// Only now the length is known, so this body is copied once.
void Connection::take_chunks() {
  if (!request_.field(kJsonLengthField)) json_bytes_ = chunks_.size();
  if (!MemoryBlock::allocate(chunks_.size(), json_bytes_, request_.body))
    return refuse_by_limit(no_memory_response());
  std::memcpy(request_.body.data(), chunks_.data(), chunks_.size());
  chunks_ = {};
  chunk_ = {};
  dispatch();
}

// The server ends, and has waited for the rest of the body as long as it was told to.
void Connection::stop_body() {
  reading_body_ = false;
  stream_.expires_after(seconds(shared_.limits.body_seconds));
  refuse_by_limit(error_response(503, "the server is shutting down"));
}

}  // namespace millrace::serve
