// A connection writes with non-blocking sendmsg() on the sending thread and, when the socket's
// buffer was full, on the epoll thread. Only the epoll thread reads: first a header, then the data
// directly into the memory of the window.
#include "ranks/tcp/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/contained.h"

namespace millrace::ranks {
namespace {

// The maximum number of bytes that are read from one connection before the others have their turn.
constexpr size_t kTurn = size_t{4} << 20;

bool would_wait() noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

Status broken(const char* how) {
  return {StatusCode::kIoError, how};
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(UniqueFd socket, int epoll, uint32_t id) {
  const int on = 1;
  // TCP_NODELAY sends short messages at once. If it fails, the connection still works.
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  std::unique_ptr<Connection> made(new Connection(std::move(socket), epoll, id));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = id;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, made->socket_.get(), &event) != 0)
    return io_error("epoll_ctl", errno);
  return made;
}

Status Connection::send(TcpWindow& window, uint64_t slot, std::span<const std::byte> data) {
  const std::lock_guard lock(send_mutex_);
  if (!failure_.ok()) return failure_;
  const Outgoing outgoing{{Kind::kData, 0, slot, data.size()}, &window, data.data()};
  OutSlot& out = out_[slot];
  if (out.awaited == 0) {
    out.held.push_back(outgoing);
    return {};
  }
  put(outgoing);
  --out.awaited;
  return {};
}

Status Connection::receive(TcpWindow& window, uint64_t slot, std::span<std::byte> memory) {
  const std::scoped_lock lock(receive_mutex_, send_mutex_);
  if (!failure_.ok()) return failure_;
  InSlot& in = in_[slot];
  in.posted.push_back({&window, memory.data(), memory.size()});
  if (in.forgotten != 0) {
    --in.forgotten;
    return {};
  }
  try {
    put({{Kind::kReady, 0, slot, memory.size()}});
  } catch (...) {
    in.posted.pop_back();
    throw;
  }
  return {};
}

// Queues a message, and writes as much as possible at once if no other one is queued.
void Connection::put(const Outgoing& outgoing) {
  queue_.push_back(outgoing);
  if (queue_.size() == 1) flush();
}

void Connection::flush() noexcept {
  while (!queue_.empty() && !is_broken_) {
    Outgoing& first = queue_.front();
    const size_t of_head = std::min(first.written, sizeof(Head));
    const size_t of_body = first.written - of_head;
    std::array<iovec, 2> parts{
        iovec{reinterpret_cast<std::byte*>(&first.head) + of_head, sizeof(Head) - of_head},
        iovec{const_cast<std::byte*>(first.data) + of_body, first.size() - sizeof(Head) - of_body}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && would_wait()) return watch(true);
    if (sent < 0) {
      // The reading thread will detect the end of the connection, after the data that have arrived.
      is_broken_ = true;
      break;
    }
    first.written += static_cast<size_t>(sent);
    if (first.written < first.size()) continue;
    if (first.window != nullptr) first.window->note_sent();
    queue_.pop_front();
  }
  watch(false);
}

void Connection::watch(bool for_room) noexcept {
  if (std::exchange(waits_for_room_, for_room) == for_room) return;
  epoll_event event{};
  event.events = for_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u32 = id_;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_.get(), &event);
}

void Connection::on_events(uint32_t events) noexcept {
  if ((events & EPOLLOUT) != 0) {
    const std::lock_guard lock(send_mutex_);
    flush();
  }
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) == 0) return;
  Status status;
  {
    const std::lock_guard lock(receive_mutex_);
    status = contained([&] { return read(); });
  }
  if (!status.ok()) end(status);
}

Status Connection::read() {
  if (!failure_.ok()) return failure_;
  for (size_t bytes = 0; bytes < kTurn;) {
    if (missing() != 0) {
      MILLRACE_ASSIGN_OR_RETURN(const size_t got, read_some());
      if (got == 0) return {};
      bytes += got;
    }
    if (missing() != 0 || head_bytes_ < sizeof(Head)) continue;
    end_message();
  }
  return {};
}

// Reads bytes of the header or of the data. Returns how many; 0 if none have arrived.
Result<size_t> Connection::read_some() {
  const bool is_head = head_bytes_ < sizeof(Head);
  std::array<std::byte, 16384> dropped;
  std::byte* const to = is_head ? reinterpret_cast<std::byte*>(&head_) + head_bytes_
                        : current_.window == nullptr ? dropped.data()
                                                     : current_.memory + body_bytes_;
  const size_t most =
      is_head || current_.window != nullptr ? missing() : std::min(missing(), dropped.size());
  ssize_t got = 0;
  do {
    got = recv(socket_.get(), to, most, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && would_wait()) return size_t{0};
  if (got < 0) return io_error("the connection has ended", errno);
  if (got == 0) return broken("the connection has ended");
  (is_head ? head_bytes_ : body_bytes_) += static_cast<size_t>(got);
  if (is_head && head_bytes_ == sizeof(Head)) MILLRACE_RETURN_IF_ERROR(begin_message());
  return static_cast<size_t>(got);
}

// Handles a header that has arrived: finds the receive for the data that follow it.
Status Connection::begin_message() {
  if (head_.kind == Kind::kReady) {
    note_ready(head_.slot);
    head_.bytes = 0;  // no body follows
    return {};
  }
  if (head_.kind != Kind::kData) return broken("it has sent an unknown kind of message");
  const auto found = in_.find(head_.slot);
  if (found == in_.end()) return broken("it has sent a message without a matching receive");
  InSlot& in = found->second;
  if (in.posted.empty() && in.forgotten != 0) {
    --in.forgotten;
    return {};
  }
  if (in.posted.empty() || in.posted.front().room < head_.bytes)
    return broken("it has sent a message without a matching receive");
  current_ = in.posted.front();
  in.posted.pop_front();
  return {};
}

// Handles the announcement of a receive: sends the oldest held message of the slot, if there is
// one.
void Connection::note_ready(uint64_t slot) {
  const std::lock_guard lock(send_mutex_);
  OutSlot& out = out_[slot];
  if (out.held.empty()) {
    ++out.awaited;
    return;
  }
  put(out.held.front());
  out.held.pop_front();
}

void Connection::end_message() noexcept {
  if (head_.kind == Kind::kData && current_.window != nullptr) current_.window->note_received();
  current_ = {};
  head_bytes_ = body_bytes_ = 0;
}

void Connection::forget(TcpWindow& window) noexcept {
  bool is_cut = false;
  {
    const std::scoped_lock lock(receive_mutex_, send_mutex_);
    for (auto& [slot, in] : in_) {
      const size_t before = in.posted.size();
      in.posted.erase_if([&](const Incoming& incoming) { return incoming.window == &window; });
      in.forgotten += before - in.posted.size();
    }
    if (current_.window == &window) current_.window = nullptr;
    is_cut = !queue_.empty() && queue_.front().window == &window && queue_.front().written != 0;
    is_broken_ |= is_cut;
    forget_outgoing(window);
  }
  if (is_cut) end({StatusCode::kIoError, "a message was given up after a part of it was sent"});
}

void Connection::forget_outgoing(TcpWindow& window) noexcept {
  const auto is_of_window = [&](const Outgoing& outgoing) { return outgoing.window == &window; };
  for (auto& [slot, out] : out_) out.held.erase_if(is_of_window);
  queue_.for_each([&](const Outgoing& outgoing) {
    if (!is_of_window(outgoing)) return;
    // The other side still waits for a message in this slot.
    if (const auto out = out_.find(outgoing.head.slot); out != out_.end()) ++out->second.awaited;
  });
  queue_.erase_if(is_of_window);
  // put() does not allocate here, since no more messages are added than were erased.
  for (auto& [slot, out] : out_)
    for (; out.awaited != 0 && !out.held.empty(); --out.awaited) {
      put(out.held.front());
      out.held.pop_front();
    }
}

void Connection::end(const Status& why) noexcept {
  const std::scoped_lock lock(receive_mutex_, send_mutex_);
  if (!failure_.ok()) return;
  failure_ = why;
  is_broken_ = true;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_.get(), nullptr);
  shutdown(socket_.get(), SHUT_RDWR);
  const auto fail = [&](TcpWindow* window) {
    if (window != nullptr) window->fail(why);
  };
  for (auto& [slot, in] : in_)
    in.posted.for_each([&](const Incoming& incoming) { fail(incoming.window); });
  fail(current_.window);
  queue_.for_each([&](const Outgoing& outgoing) { fail(outgoing.window); });
  for (auto& [slot, out] : out_)
    out.held.for_each([&](const Outgoing& held) { fail(held.window); });
  in_.clear();
  current_ = {};
  queue_.clear();
  out_.clear();
}

}  // namespace millrace::ranks
