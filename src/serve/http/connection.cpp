// The header of a request, and the end of a connection.
#include "serve/http/connection.h"

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <new>
#include <string_view>

#include "base/log.h"
#include "serve/http/remote.h"

namespace millrace::serve {
namespace {

constexpr size_t kFirstRead = 2048;
constexpr size_t kReadAhead = 64 << 10;

bool is_chunked(std::string_view coding) {
  return beast::iequals(beast::string_view(coding.data(), coding.size()), "chunked");
}

}  // namespace

Connection::Connection(Socket socket, asio::ssl::context* tls, Shared& shared, Connections& all)
    : shared_(shared),
      all_(all),
      stream_(std::move(socket), tls),
      remote_(remote_of(stream_.socket())),
      buffer_(shared.limits.header_bytes + kReadAhead),
      body_share_(shared.body_bytes),
      answer_share_(shared.answer_bytes) {
  ++shared_.open;
}

Connection::~Connection() {
  --shared_.open;
}

void Connection::begin() {
  all_.insert(shared_from_this());
  guarded([this] { stream_.has_tls() ? shake_hands() : wait_for_request(); });
}

// A client has as much time for that as for a header.
void Connection::shake_hands() {
  stream_.expires_after(seconds(shared_.limits.header_seconds));
  stream_.async_handshake(then([](Connection& self, error_code error, size_t) {
    if (error) return self.on_error(error);
    self.wait_for_request();
  }));
}

void Connection::fail(const char* reason) noexcept {
  log_format(LogLevel::kError, "serve", "a connection failed: {}", reason);
  close();
}

void Connection::close() noexcept {
  const auto self = shared_from_this();
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_both, ignored);
  stream_.close();
  after_watch_ = nullptr;
  watch_limit_.reset();
  if (exchange_) exchange_->cancel();
  end_exchange();
  end_request();
  all_.erase(self);
}

// A client that is too slow is counted, as one that a limit refuses.
void Connection::on_error(error_code error) noexcept {
  if (error == beast::error::timeout) count_refusal(kTooSlow);
  close();
}

// Waits without a parser, so that an idle connection takes little memory.
void Connection::wait_for_request() {
  request_ = HttpRequest{};
  request_.origin.remote = remote_;
  if (buffer_.size() > 0) return read_header();
  stream_.expires_after(seconds(shared_.limits.idle_seconds));
  stream_.async_read_some(buffer_.prepare(kFirstRead),
                          then([](Connection& self, error_code error, size_t bytes) {
                            if (error) return self.close();
                            self.buffer_.commit(bytes);
                            self.read_header();
                          }));
}

void Connection::read_header() {
  keep_ = false;
  parser_.emplace();
  parser_->header_limit(shared_.limits.header_bytes);
  parser_->body_limit(shared_.limits.body_bytes);
  stream_.expires_after(seconds(shared_.limits.header_seconds));
  http::async_read_header(
      stream_, buffer_, *parser_,
      then([](Connection& self, error_code error, size_t) { self.on_header(error); }));
}

// The request counts as open before the handler decides whether the server still takes it, so that
// the end of the server either waits for it or has it refused.
void Connection::on_header(error_code error) {
  if (error) return on_bad_header(error);
  take_header();
  keep_ = parser_->keep_alive();
  if (!shared_.closing) {
    shared_.requests.begin();
    counted_ = true;
  }
  if (auto refusal = refuse_head()) return refuse(*std::move(refusal));
  begin_body();
}

// Errors of the HTTP library are answered; the others mean that there is nobody to answer.
void Connection::on_bad_header(error_code error) {
  if (error == http::error::header_limit)
    return refuse_by_limit(error_response(
        431, fmt::format("the header is longer than {} bytes", shared_.limits.header_bytes)));
  if (error == http::error::body_limit) {
    if (request_.target.empty()) take_header();  // it has been read, and states the length
    return refuse_by_limit(error_response(
        413, fmt::format("the body is longer than {} bytes", shared_.limits.body_bytes)));
  }
  const bool is_http =
      error.category() == http::make_error_code(http::error::bad_method).category();
  if (!is_http || error == http::error::end_of_stream || error == http::error::partial_message)
    return on_error(error);
  refuse_by_limit(error_response(400, "this is no HTTP request: " + error.message()));
}

void Connection::take_header() {
  const auto& message = parser_->get();
  request_.arrival = Clock::now();
  request_.method = std::string(message.method_string());
  request_.target = std::string(message.target());
  for (const auto& field : message)
    request_.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
}

// Decides by the header alone whether the body is worth reading.
std::optional<HttpResponse> Connection::refuse_head() {
  // The HTTP library would take the body in another coding for the next request.
  if (const auto coding = request_.field("Transfer-Encoding"); coding && !is_chunked(*coding)) {
    keep_ = false;
    return counted_refusal(
        error_response(501, "the only Transfer-Encoding that is read is chunked"));
  }
  const auto length = parser_->content_length();
  body_bytes_ = length ? static_cast<size_t>(*length) : 0;
  json_bytes_ = body_bytes_;
  if (const auto text = request_.field(kJsonLengthField)) {
    const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), json_bytes_);
    if (bad != std::errc() || end != text->data() + text->size())
      return counted_refusal(
          error_response(400, fmt::format("{} is no number of bytes", kJsonLengthField)));
    // It is that of the body before it was compressed.
    if (length && json_bytes_ > body_bytes_ && !request_.field("Content-Encoding"))
      return counted_refusal(
          error_response(400, fmt::format("{} is {}, and the body has {} bytes", kJsonLengthField,
                                          json_bytes_, body_bytes_)));
  }
  return shared_.handler.refuse(request_);
}

HttpResponse Connection::counted_refusal(HttpResponse response) {
  count_refusal(response.status);
  return response;
}

// A request that a handler has been given has left nothing here but where it came from.
void Connection::count_refusal(unsigned status) noexcept {
  try {
    request_.origin.remote = remote_;
  } catch (const std::bad_alloc&) {
    request_.origin.remote.clear();
  }
  shared_.handler.refused(request_, status);
}

void Connection::refuse_by_limit(HttpResponse response) {
  refuse(counted_refusal(std::move(response)));
}

// The connection can go on only if there is nothing left to read of the request.
void Connection::refuse(HttpResponse response) {
  reading_body_ = false;
  const bool is_read = parser_ && parser_->is_done() && keep_ && !shared_.closing;
  parser_.reset();
  chunks_ = {};
  request_.body = {};
  body_share_.give_back();
  write(std::move(response), is_read);
}

}  // namespace millrace::serve
