// Dial: a sender's attempts to connect to its receiver, repeated until one is answered. A receiver
// that is not ready yet closes the connection or has no listening socket, and the next attempt
// follows after 50 ms. Non-blocking; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "nrt/sendrecv/communicator.h"
#include "nrt/sendrecv/poller.h"

namespace millrace::nrt::sendrecv {

class Dial {
 public:
  explicit Dial(const Route& route) noexcept : peer_(route.peer), greeting_(route.greeting()) {}

  // Continues the attempt as far as possible without blocking, and lets the poller watch for the
  // next event. Returns the connected socket once the receiver has answered, and an empty one until
  // then. The poller does not watch the socket that is returned. May throw bad_alloc.
  UniqueFd step(int64_t now_ns, Poller& poller);

  // Ends the current attempt and closes its socket.
  void stop(Poller& poller);
  // Returns why the last attempt failed.
  const std::string& reason() const noexcept { return reason_; }

 private:
  void start(int64_t now_ns, Poller& poller);
  bool greet(int64_t now_ns, Poller& poller);
  bool hear(int64_t now_ns, Poller& poller);
  void watch(Interest now, Poller& poller);
  void give_up(int64_t now_ns, Poller& poller, std::string reason);

  const SocketAddress peer_;
  const Greeting greeting_;
  UniqueFd socket_;  // empty between attempts
  Interest interest_ = Interest::kNothing;
  bool greeted_ = false;
  Greeting answer_;
  size_t answer_bytes_ = 0;  // number of bytes of the answer that have arrived
  int64_t next_try_ns_ = 0;
  std::string reason_ = "the peer has not answered";
};

}  // namespace millrace::nrt::sendrecv
