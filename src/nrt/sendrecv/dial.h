// Dial: the sender's attempts to reach the receiver, until one is answered. A receiver that does
// not wait yet closes the connection or has no socket: then there is another attempt after a while.
// For one thread at a time.
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

  // Does what can be done now, and has the poller wait for what comes next. Returns the connected
  // socket, which the poller no longer waits for, once the receiver has answered, and none until
  // then. May throw bad_alloc.
  UniqueFd step(int64_t now_ns, Poller& poller);

  // Ends the attempt that is under way.
  void stop(Poller& poller);
  // Why the last attempt failed.
  const std::string& reason() const noexcept { return reason_; }

 private:
  void start(int64_t now_ns, Poller& poller);
  bool greet(int64_t now_ns, Poller& poller);
  bool hear(int64_t now_ns, Poller& poller);
  void watch(Interest now, Poller& poller);
  void give_up(int64_t now_ns, Poller& poller, std::string reason);

  const SocketAddress peer_;
  const Greeting greeting_;
  UniqueFd socket_;  // none between attempts
  Interest interest_ = Interest::kNothing;
  bool greeted_ = false;
  Greeting answer_;
  size_t answer_bytes_ = 0;  // that have arrived
  int64_t next_try_ns_ = 0;
  std::string reason_ = "it has not answered";
};

}  // namespace millrace::nrt::sendrecv
