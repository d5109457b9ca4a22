// Communicator: a one-way channel between a core of this process and a core of another process, or
// of the same one. Its requests are processed in the order in which they were posted, over one TCP
// connection.
//
//   connecting --connected()--> connected --fail()--> failed
//        \---------------------fail()-------------------/
//
// Any thread may reserve, post and release requests and query the state. The functions that move
// bytes or change the state are called with the service's mutex held.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "nrt/objects/handles.h"
#include "nrt/sendrecv/poller.h"
#include "nrt/sendrecv/request.h"
#include "nrt/sendrecv/socket_address.h"
#include "nrt/sendrecv/wire.h"

struct nrt_async_sendrecv_comm;

namespace millrace::nrt::sendrecv {

enum class Side : uint8_t { kSend, kReceive };

// The two ends of a communicator, and its direction as seen from this process.
struct Route {
  Side side = Side::kSend;
  int core = 0;        // on this host
  int peer_core = 0;   // on the peer
  SocketAddress peer;  // the peer's host, and the port of peer_core

  // "core 0 to core 1 of 10.0.0.2"
  std::string text() const;
  Greeting greeting() const noexcept;
};

class Communicator {
 public:
  // The number of requests that may be pending, or complete but not yet tested by the program.
  static constexpr size_t kMostRequests = 128;

  enum class State : uint8_t { kConnecting, kConnected, kFailed };

  // May throw bad_alloc.
  Communicator(const Route& route, int64_t connect_deadline_ns);

  const Route& route() const noexcept { return route_; }
  // Returns route().text(), for messages.
  const std::string& name() const noexcept { return name_; }
  int64_t connect_deadline_ns() const noexcept { return connect_deadline_ns_; }
  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  // Returns why the communicator failed; OK if it has not.
  Status failure() const;
  // The time at which bytes last moved, or at which the connection was established.
  int64_t last_progress_ns() const noexcept {
    return last_progress_ns_.load(std::memory_order_relaxed);
  }

  // Returns a free request to be filled in; null when all are in use.
  Request* reserve() noexcept;
  // Appends a reserved request to the queue. If the communicator has failed, the request completes
  // at once with that failure.
  void post(Request& request) noexcept;
  // Returns a request to the free ones. Requirement: it is not pending.
  void release(Request& request) noexcept;
  bool has_pending() const noexcept;
  // Calls `visit(request)` for every request that is pending or complete. Requirement: no thread
  // posts or releases requests meanwhile.
  template <class Visit>
  void for_each_used(Visit&& visit) {
    for (Request& request : requests_)
      if (request.state.load(std::memory_order_acquire) != Request::State::kFree) visit(request);
  }

  // The functions and members from here to `handle` require the service's mutex.

  // Takes ownership of the connected, non-blocking socket, and enters the state kConnected.
  void connected(UniqueFd socket) noexcept;
  // Closes the connection and completes all pending requests with `why`, prefixed by the
  // communicator's name. Requirement: the poller does not watch the socket.
  void fail(const Status& why) noexcept;
  // Sends or receives as much as possible without blocking, and returns the event to wait for next.
  // After a failure the caller must call fail().
  Result<Interest> progress();

  int fd() const noexcept { return socket_.get(); }
  Interest interest = Interest::kNothing;  // the event for which the poller watches the socket

  // The program's handle; set before the communicator is used.
  nrt_async_sendrecv_comm* handle = nullptr;

 private:
  using Index = uint8_t;
  static_assert(kMostRequests <= 256);

  Request* front() noexcept;
  void finish_front(Status status, size_t bytes) noexcept;
  // These return the number of bytes moved, 0 if the operation would block. May throw bad_alloc.
  Result<size_t> send_some(Request& request);
  Result<size_t> receive_some(Request& request);
  Result<size_t> receive_head(Request& request);
  bool message_is_complete() const noexcept {
    return head_bytes_ == sizeof head_ && body_bytes_ == head_.bytes;
  }

  const Route route_;
  const std::string name_;
  const int64_t connect_deadline_ns_;
  std::atomic<State> state_{State::kConnecting};
  std::atomic<int64_t> last_progress_ns_{0};

  mutable std::mutex mutex_;  // guards the members up to the next blank line
  Status failure_;
  std::vector<Index> free_;
  std::array<Index, kMostRequests> pending_{};  // a ring buffer
  size_t first_pending_ = 0, pending_count_ = 0;

  std::array<Request, kMostRequests> requests_;
  UniqueFd socket_;
  // The message that is being transferred, which belongs to the first pending request, and the
  // number of bytes of its head and body that have been transferred.
  MessageHead head_;
  size_t head_bytes_ = 0, body_bytes_ = 0;
};

}  // namespace millrace::nrt::sendrecv

struct nrt_async_sendrecv_comm : millrace::nrt::Handle<millrace::nrt::sendrecv::Communicator> {};

namespace millrace::nrt::sendrecv {
using CommunicatorHandles = Handles<nrt_async_sendrecv_comm>;
}  // namespace millrace::nrt::sendrecv
