// Communicator: one way between a core of this process and a core of another, or of the same. The
// requests that are posted to it are carried out in their order, over one connection.
//
//   connecting --connected()--> connected --fail()--> failed
//        \---------------------fail()-------------------/
//
// Any thread posts requests and asks for the state. What moves bytes and changes the state is
// called with the service's mutex held.
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

// The two ends of a communicator.
struct Route {
  Side side = Side::kSend;
  int core = 0;  // of this host
  int peer_core = 0;
  SocketAddress peer;  // for the sender with the port of the receiver

  // "core 0 to core 1 of 10.0.0.2"
  std::string text() const;
  Greeting greeting() const noexcept;
};

class Communicator {
 public:
  // How many requests may be posted or be done without having been asked for.
  static constexpr size_t kMostRequests = 128;

  enum class State : uint8_t { kConnecting, kConnected, kFailed };

  // May throw bad_alloc.
  Communicator(const Route& route, int64_t connect_deadline_ns);

  const Route& route() const noexcept { return route_; }
  // The text of the route.
  const std::string& name() const noexcept { return name_; }
  int64_t connect_deadline_ns() const noexcept { return connect_deadline_ns_; }
  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  // Why it failed.
  Status failure() const;
  // The time at which bytes moved last, or the connection was made.
  int64_t last_progress_ns() const noexcept {
    return last_progress_ns_.load(std::memory_order_relaxed);
  }

  // A request to be filled in; null when all are in use.
  Request* reserve() noexcept;
  // Posts it. On a communicator that has failed it is done at once.
  void post(Request& request) noexcept;
  // Gives it back.
  void release(Request& request) noexcept;
  bool has_pending() const noexcept;
  // Calls `visit(request)` for every request that has a handle. Requirement: no thread posts or
  // releases.
  template <class Visit>
  void for_each_used(Visit&& visit) {
    for (Request& request : requests_)
      if (request.state.load(std::memory_order_acquire) != Request::State::kFree) visit(request);
  }

  // ---- With the service's mutex held ----

  // Takes over the socket, which does not block.
  void connected(UniqueFd socket) noexcept;
  // Ends the connection; all requests are done, with that status, after the communicator's name.
  // Requirement: the poller does not wait for it.
  void fail(const Status& why) noexcept;
  // Moves what can be moved now, and returns what to wait for. After a failure fail() is to be
  // called.
  Result<Interest> progress();

  int fd() const noexcept { return socket_.get(); }
  Interest interest = Interest::kNothing;  // what the poller waits for

  // The program's handle; set before the communicator is used.
  nrt_async_sendrecv_comm* handle = nullptr;

 private:
  using Index = uint8_t;
  static_assert(kMostRequests <= 256);

  Request* front() noexcept;
  void finish_front(Status status, size_t bytes) noexcept;
  // How many bytes they moved; 0 where they would wait. May throw bad_alloc.
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

  mutable std::mutex mutex_;  // of the members up to the next blank line
  Status failure_;
  std::vector<Index> free_;
  std::array<Index, kMostRequests> pending_{};  // a ring
  size_t first_pending_ = 0, pending_count_ = 0;

  std::array<Request, kMostRequests> requests_;
  UniqueFd socket_;
  // The message on its way, of the first pending request.
  MessageHead head_;
  size_t head_bytes_ = 0, body_bytes_ = 0;  // that have moved
};

}  // namespace millrace::nrt::sendrecv

struct nrt_async_sendrecv_comm : millrace::nrt::Handle<millrace::nrt::sendrecv::Communicator> {};

namespace millrace::nrt::sendrecv {
using CommunicatorHandles = Handles<nrt_async_sendrecv_comm>;
}  // namespace millrace::nrt::sendrecv
