// Backend: what the calls of gRPC give their requests to. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "serve/grpc/calls.h"
#include "serve/grpc/rest_form.h"
#include "serve/http/memory_charge.h"
#include "serve/http/message.h"
#include "serve/http/workers.h"
#include "serve/options.h"

namespace millrace::serve {

class Backend {
 public:
  // The handler and the workers must outlive the backend.
  Backend(Handler& handler, Workers& workers, const HttpLimits& limits)
      : handler_(handler),
        workers_(workers),
        bodies_(std::make_shared<std::atomic<uint64_t>>(limits.all_bodies_bytes)),
        answers_(std::make_shared<std::atomic<uint64_t>>(limits.all_answers_bytes)) {}

  // The work for a request, which counts its memory until it is destroyed.
  std::shared_ptr<RequestWork> new_work() const {
    return std::make_shared<RequestWork>(bodies_, answers_);
  }
  // For what a request takes while it is read, of the memory for all bodies.
  MemoryCharge new_charge() const { return MemoryCharge(bodies_); }

  // Begins to answer an inference request, which it does not need after it has returned. `respond`
  // is called once, during the call or later. Cancelling `work` ends the work. Does not throw,
  // unless `respond` does.
  void infer(const inference::ModelInferRequest& request, const CallHead& head,
             const std::shared_ptr<RequestWork>& work, Respond respond);
  // Answers a request for one of the paths that are not for inference.
  void ask(HttpRequest request, Respond respond);
  // The answer to a call of inference that does not state the token; nothing if it does, or needs
  // none. Nothing of its message has to be read for that.
  std::optional<HttpResponse> refuse_stranger(const CallHead& head);
  // The answer to a request that the handler is not given, and only counts.
  HttpResponse refusal(const CallHead& head, const Status& status);
  // Counts a connection that is turned away.
  void count_turned_away(std::string remote) noexcept;

  Calls& calls() { return calls_; }

 private:
  void begin(const inference::ModelInferRequest& request, const CallHead& head,
             const std::shared_ptr<RequestWork>& work, const Respond& respond);
  HttpResponse refusal(const HttpRequest& head, const Status& status);
  void hand_over(HttpRequest request, size_t json_bytes, const std::shared_ptr<RequestWork>& work,
                 const Respond& respond);

  Handler& handler_;
  Workers& workers_;
  const MemoryCharge::Limit bodies_, answers_;
  Calls calls_;
};

}  // namespace millrace::serve
