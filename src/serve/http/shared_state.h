// The state that the connections of a server share. The server owns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "serve/http/answer_queue.h"
#include "serve/http/asio.h"
#include "serve/http/byte_budget.h"
#include "serve/http/message.h"
#include "serve/http/open_requests.h"
#include "serve/http/workers.h"
#include "serve/options.h"

namespace millrace::serve {

struct Shared {
  Shared(const HttpLimits& all_limits, Handler& answers, Workers& threads,
         std::atomic<uint32_t>& connections, std::shared_ptr<AnswerQueue> queue)
      : limits(all_limits),
        handler(answers),
        workers(threads),
        open(connections),
        answers(std::move(queue)) {}

  const HttpLimits limits;
  Handler& handler;
  Workers& workers;
  std::atomic<uint32_t>& open;
  const std::shared_ptr<AnswerQueue> answers;
  OpenRequests requests;
  std::atomic<bool> closing = false;

  // Used on the thread of the server only.
  bool ended = false;  // whether the thread has ended, and with it every connection
  ByteBudget body_bytes{limits.all_bodies_bytes};
  ByteBudget answer_bytes{limits.all_answers_bytes};

  asio::io_context io{1};  // last, since what it drops when it is destroyed uses the others
};

}  // namespace millrace::serve
