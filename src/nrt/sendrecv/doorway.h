// Doorway: the listening socket at which senders connect to one core, at one address of this host.
// It limits what unknown hosts can do: it listens only while a communicator waits for its sender,
// closes connections from hosts that none expects, and keeps at most 32 connections that have not
// sent their greeting (16 bytes), for five seconds each. Non-blocking; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"
#include "nrt/sendrecv/poller.h"
#include "nrt/sendrecv/socket_address.h"
#include "nrt/sendrecv/wire.h"

namespace millrace::nrt::sendrecv {

// The connections that the communicators of a core expect; implemented by the service.
class Expectations {
 public:
  virtual ~Expectations() = default;
  // True if a communicator expects a connection from the host.
  virtual bool expects(const SocketAddress& host) const = 0;
  // True if a communicator expects a connection with that greeting. If so, takes ownership of the
  // socket, which the poller does not watch.
  virtual bool admit(const SocketAddress& host, const Greeting& greeting, UniqueFd& socket) = 0;
};

class Doorway {
 public:
  // Creates the listening socket. kIoError, which names address and port, on failure.
  static Result<Doorway> open(const SocketAddress& address);

  const SocketAddress& address() const noexcept { return address_; }
  // Starts or stops accepting connections. Meanwhile they wait in the backlog of the socket.
  void listen(bool now, Poller& poller) noexcept;
  // Accepts new connections, and reads the greetings of those that it has. Does not block. May
  // throw bad_alloc.
  void step(int64_t now_ns, Poller& poller, Expectations& expectations);
  // Removes all its sockets from the poller. Must be called before the destructor.
  void shut(Poller& poller) noexcept;

 private:
  struct Arrival {
    UniqueFd socket;
    SocketAddress host;
    int64_t deadline_ns = 0;
    Greeting greeting;
    size_t bytes = 0;  // number of bytes of the greeting that have arrived
  };

  Doorway(SocketAddress address, UniqueFd socket) noexcept
      : address_(address), socket_(std::move(socket)) {}

  void take_in(int64_t now_ns, Poller& poller, const Expectations& expectations);
  // Reads the greeting. True when it is complete, or when it never will be, since the connection is
  // closed or its time has passed.
  static bool hear(Arrival& arrival, int64_t now_ns);
  static void leave(Arrival& arrival, Poller& poller) noexcept;
  void note_refusal(const SocketAddress& host, std::string_view why);

  SocketAddress address_;
  UniqueFd socket_;
  Interest interest_ = Interest::kNothing;
  std::list<Arrival> arrivals_;  // accepted connections without a complete greeting, oldest first
  uint64_t refusals_ = 0;
};

}  // namespace millrace::nrt::sendrecv
