// The transfer of messages over the socket: a head with the size, then the bytes, without copies.
// Sends combine head and body in one call (sendmsg); a receive checks the head before it takes any
// bytes of the body.
#include "nrt/sendrecv/communicator.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/contained.h"
#include "base/exchange_events.h"

namespace millrace::nrt::sendrecv {
namespace {

// The number of bytes that one connection may move before the thread serves the others.
constexpr size_t kTurn = size_t{4} << 20;

void set_option(int fd, int level, int option, int value) noexcept {
  ::setsockopt(fd, level, option, &value, sizeof value);  // failure is harmless
}

// Disables Nagle's algorithm and enables TCP keep-alive, since a host that disappears closes no
// connection: the first probe follows after 10 s, and after two unanswered ones, 5 s apart, the
// connection fails.
void set_up(int fd) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
}

// Translates the result of send or recv to a number of bytes, which is 0 if the call would block.
Result<size_t> moved(ssize_t result) noexcept {
  if (result >= 0) return static_cast<size_t>(result);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return size_t{0};
  return io_error("the connection", errno);
}

// Translates the result of recv, where 0 bytes mean that the peer has closed the connection.
Result<size_t> received(ssize_t result) noexcept {
  if (result != 0) return moved(result);
  return Status(StatusCode::kIoError, "the peer has closed the connection");
}

}  // namespace

std::string Route::text() const {
  return side == Side::kSend ? fmt::format("core {} to core {} of {}", core, peer_core, peer.ip())
                             : fmt::format("core {} of {} to core {}", peer_core, peer.ip(), core);
}

Greeting Route::greeting() const noexcept {
  Greeting greeting;
  greeting.from_core = side == Side::kSend ? core : peer_core;
  greeting.to_core = side == Side::kSend ? peer_core : core;
  return greeting;
}

Communicator::Communicator(const Route& route, int64_t connect_deadline_ns)
    : route_(route), name_(route_.text()), connect_deadline_ns_(connect_deadline_ns) {
  for (size_t i = kMostRequests; i-- > 0;) {
    requests_[i].owner = this;
    free_.push_back(static_cast<Index>(i));
  }
}

Status Communicator::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Request* Communicator::reserve() noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  Request& request = requests_[free_.back()];
  free_.pop_back();
  return &request;
}

void Communicator::post(Request& request) noexcept {
  const std::lock_guard lock(mutex_);
  request.state.store(Request::State::kPending, std::memory_order_relaxed);
  if (!failure_.ok()) return request.finish(failure_, 0);
  pending_[(first_pending_ + pending_count_++) % kMostRequests] =
      static_cast<Index>(&request - requests_.data());
}

void Communicator::release(Request& request) noexcept {
  const std::lock_guard lock(mutex_);
  request.storage.reset();
  request.result = {};
  request.exchange.reset();
  request.handle = nullptr;
  request.state.store(Request::State::kFree, std::memory_order_relaxed);
  free_.push_back(static_cast<Index>(&request - requests_.data()));
}

bool Communicator::has_pending() const noexcept {
  const std::lock_guard lock(mutex_);
  return pending_count_ != 0;
}

Request* Communicator::front() noexcept {
  const std::lock_guard lock(mutex_);
  return pending_count_ == 0 ? nullptr : &requests_[pending_[first_pending_]];
}

void Communicator::finish_front(Status status, size_t bytes) noexcept {
  end_exchange(front()->exchange.value_or(0), status.code());
  const std::lock_guard lock(mutex_);
  Request& request = requests_[pending_[first_pending_]];
  first_pending_ = (first_pending_ + 1) % kMostRequests;
  --pending_count_;
  request.finish(std::move(status), bytes);
}

void Communicator::connected(UniqueFd socket) noexcept {
  set_up(socket.get());
  socket_ = std::move(socket);
  last_progress_ns_.store(now_ns(), std::memory_order_relaxed);
  state_.store(State::kConnected, std::memory_order_release);
}

void Communicator::fail(const Status& why) noexcept {
  const Status named = why.with_context(name_);
  {
    const std::lock_guard lock(mutex_);
    failure_ = named;
  }
  state_.store(State::kFailed, std::memory_order_release);
  while (front() != nullptr) finish_front(named, 0);
  socket_ = UniqueFd();
}

Result<Interest> Communicator::progress() {
  const bool sends = route_.side == Side::kSend;
  const Interest more = sends ? Interest::kWritable : Interest::kReadable;
  for (size_t bytes = 0; bytes < kTurn;) {
    Request* const request = front();
    if (request == nullptr) return Interest::kNothing;
    if (!request->exchange)
      request->exchange = begin_exchange(sends ? "send" : "receive", name_, request->bytes);
    const Result<size_t> step =
        contained([&] { return sends ? send_some(*request) : receive_some(*request); });
    if (!step.ok()) return step.status();
    if (*step == 0) return more;
    bytes += *step;
    last_progress_ns_.store(now_ns(), std::memory_order_relaxed);
    if (!message_is_complete()) continue;
    finish_front({}, body_bytes_);
    head_bytes_ = body_bytes_ = 0;
  }
  return more;
}

Result<size_t> Communicator::send_some(Request& request) {
  if (head_bytes_ == 0) head_ = {MessageHead::kMagic, request.bytes};
  Result<size_t> sent = size_t{0};
  const Status access = memory::with_access(request.access, memory::Access::kRead, [&] {
    std::array<iovec, 2> parts{
        iovec{reinterpret_cast<std::byte*>(&head_) + head_bytes_, sizeof head_ - head_bytes_},
        iovec{request.data + body_bytes_, std::min(request.bytes - body_bytes_, kTurn)}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    sent = moved(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    return sent.status();
  });
  if (!access.ok()) return access;
  const size_t of_head = std::min(*sent, sizeof head_ - head_bytes_);
  head_bytes_ += of_head;
  body_bytes_ += *sent - of_head;
  return sent;
}

Result<size_t> Communicator::receive_some(Request& request) {
  if (head_bytes_ < sizeof head_) return receive_head(request);
  Result<size_t> taken = size_t{0};
  const Status access = memory::with_access(request.access, memory::Access::kWrite, [&] {
    const size_t wanted = std::min(static_cast<size_t>(head_.bytes) - body_bytes_, kTurn);
    taken = received(::recv(socket_.get(), request.data + body_bytes_, wanted, MSG_DONTWAIT));
    return taken.status();
  });
  if (!access.ok()) return access;
  body_bytes_ += *taken;
  return taken;
}

Result<size_t> Communicator::receive_head(Request& request) {
  Result<size_t> taken =
      received(::recv(socket_.get(), reinterpret_cast<std::byte*>(&head_) + head_bytes_,
                      sizeof head_ - head_bytes_, MSG_DONTWAIT));
  if (!taken.ok()) return taken;
  head_bytes_ += *taken;
  if (head_bytes_ < sizeof head_) return taken;
  if (head_.magic != MessageHead::kMagic)
    return Status(StatusCode::kIoError, "the peer sent a malformed message header");
  if (head_.bytes > request.bytes)
    return Status(StatusCode::kIoError,
                  fmt::format("the peer sends {} bytes, but the receive has room for {}",
                              head_.bytes, request.bytes));
  return taken;
}

}  // namespace millrace::nrt::sendrecv
