// The state that the connections of a server share. The server owns it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "serve/http/asio.h"
#include "serve/http/message.h"
#include "serve/http/workers.h"
#include "serve/options.h"

namespace millrace::serve {

struct Shared {
  Shared(const HttpLimits& all_limits, Handler& answers, Workers& threads,
         std::atomic<uint32_t>& connections)
      : limits(all_limits), handler(answers), workers(threads), open(connections) {}

  const HttpLimits limits;
  Handler& handler;
  Workers& workers;
  std::atomic<uint32_t>& open;
  std::atomic<bool> closing = false;

  // Counts requests from the end of their body to the end of their answer.
  std::mutex mutex;
  std::condition_variable all_answered;
  uint64_t being_answered = 0;

  uint64_t body_bytes = 0;  // of all bodies in memory; used on the thread only

  asio::io_context io{1};  // last, since what it drops when it is destroyed uses the others

  void begin_answer() {
    const std::lock_guard lock(mutex);
    ++being_answered;
  }
  void end_answer() {
    const std::lock_guard lock(mutex);
    if (--being_answered == 0) all_answered.notify_all();
  }
};

}  // namespace millrace::serve
