#include "nrt/sendrecv/dial.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/files/own_descriptor.h"

namespace millrace::nrt::sendrecv {
namespace {

constexpr int64_t kPause = 50'000'000;  // nanoseconds between two attempts

bool would_wait() noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

UniqueFd Dial::step(int64_t now_ns, Poller& poller) {
  if (!socket_) start(now_ns, poller);
  if (!socket_) return {};
  if (!greeted_ && !greet(now_ns, poller)) return {};
  if (!hear(now_ns, poller)) return {};
  watch(Interest::kNothing, poller);
  return std::exchange(socket_, UniqueFd());
}

void Dial::start(int64_t now_ns, Poller& poller) {
  if (now_ns < next_try_ns_) return;
  greeted_ = false;
  answer_bytes_ = 0;
  interest_ = Interest::kNothing;
  socket_ = own_descriptor(::socket(peer_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_ || (::connect(socket_.get(), peer_.get(), peer_.size()) != 0 &&
                   errno != EINPROGRESS && errno != EINTR))
    return give_up(now_ns, poller, io_error("connect", errno).message());
  watch(Interest::kWritable, poller);
}

// Sends the greeting; true once that has succeeded. While the socket is connecting, send() fails
// with EAGAIN; if the connection has failed, send() reports why.
bool Dial::greet(int64_t now_ns, Poller& poller) {
  const ssize_t sent =
      ::send(socket_.get(), &greeting_, sizeof greeting_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(sizeof greeting_)) {
    greeted_ = true;
    watch(Interest::kReadable, poller);
    return true;
  }
  if (sent >= 0 || !would_wait()) give_up(now_ns, poller, io_error("connect", errno).message());
  return false;
}

// Receives the answer; true once it is complete and correct.
bool Dial::hear(int64_t now_ns, Poller& poller) {
  const ssize_t got = ::recv(socket_.get(), reinterpret_cast<std::byte*>(&answer_) + answer_bytes_,
                             sizeof answer_ - answer_bytes_, MSG_DONTWAIT);
  if (got > 0) answer_bytes_ += static_cast<size_t>(got);
  if (got == 0) {
    give_up(now_ns, poller, "the peer does not expect a connection from this core");
  } else if (got < 0 && !would_wait()) {
    give_up(now_ns, poller, io_error("receiving the answer", errno).message());
  } else if (answer_bytes_ == sizeof answer_) {
    if (answer_ == answer_to(greeting_)) return true;
    give_up(now_ns, poller,
            "the port is used by another program, or by another version of Millrace");
  }
  return false;
}

void Dial::watch(Interest now, Poller& poller) {
  [[maybe_unused]] const Status watched =
      poller.watch(socket_.get(), interest_, now);  // on failure, step() is called periodically
  interest_ = now;
}

void Dial::stop(Poller& poller) {
  if (socket_) watch(Interest::kNothing, poller);
  socket_ = UniqueFd();
}

void Dial::give_up(int64_t now_ns, Poller& poller, std::string reason) {
  stop(poller);
  next_try_ns_ = now_ns + kPause;
  reason_ = std::move(reason);
}

}  // namespace millrace::nrt::sendrecv
