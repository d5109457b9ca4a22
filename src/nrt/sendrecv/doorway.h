// Doorway: where senders arrive at one core, at one address of this host. It listens only while a
// communicator waits for its sender, refuses connections from hosts that none waits for, and keeps
// few bytes and few strangers for a short time. For one thread at a time.
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

// The service's knowledge of the connections that are waited for.
class Expectations {
 public:
  virtual ~Expectations() = default;
  virtual bool expects(const SocketAddress& host) const = 0;
  // Whether a connection with that greeting is waited for; if so, it takes over the socket, which
  // the poller does not wait for.
  virtual bool admit(const SocketAddress& host, const Greeting& greeting, UniqueFd& socket) = 0;
};

class Doorway {
 public:
  // kIoError, naming address and port, where the system refuses the socket.
  static Result<Doorway> open(const SocketAddress& address);

  const SocketAddress& address() const noexcept { return address_; }
  // Listens, or stops listening. Arrivals queue in the system meanwhile.
  void listen(bool now, Poller& poller) noexcept;
  // Takes in who has arrived, and hears who is there. May throw bad_alloc.
  void step(int64_t now_ns, Poller& poller, Expectations& expectations);
  // To be called before its end: the poller no longer waits for anything here.
  void shut(Poller& poller) noexcept;

 private:
  struct Arrival {
    UniqueFd socket;
    SocketAddress host;
    int64_t deadline_ns = 0;
    Greeting greeting;
    size_t bytes = 0;  // of the greeting
  };

  Doorway(SocketAddress address, UniqueFd socket) noexcept
      : address_(address), socket_(std::move(socket)) {}

  void take_in(int64_t now_ns, Poller& poller, const Expectations& expectations);
  // Whether nothing more is to be expected of it: its greeting is complete, or never will be.
  static bool hear(Arrival& arrival, int64_t now_ns);
  static void leave(Arrival& arrival, Poller& poller) noexcept;
  void note_refusal(const SocketAddress& host, std::string_view why);

  SocketAddress address_;
  UniqueFd socket_;
  Interest interest_ = Interest::kNothing;
  std::list<Arrival> arrivals_;  // the oldest first
  uint64_t refusals_ = 0;
};

}  // namespace millrace::nrt::sendrecv
