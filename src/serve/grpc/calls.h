// The calls of gRPC that bring inference requests, from their first message until gRPC has sent
// their last one; and the work for one request. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "serve/http/message.h"

namespace millrace::serve {

class Call {
 public:
  virtual ~Call() = default;
  // Cancels the work of its requests, which are still answered.
  virtual void cancel() noexcept = 0;
  // Takes no further request. What has been taken is answered.
  virtual void take_no_more() = 0;
};

class Calls {
 public:
  // Keeps the call until end(), which gRPC's last callback for it calls.
  void begin(std::shared_ptr<Call> call);
  void end(const Call* call);

  void cancel_all();
  // From now on, calls take no further request, those that begin later included.
  void take_no_more();
  // Waits until there is no call. False if `limit` passed first.
  bool wait_for_none(std::chrono::steady_clock::time_point limit);

 private:
  std::vector<std::shared_ptr<Call>> all();

  std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_map<const Call*, std::shared_ptr<Call>> calls_;
  bool ending_ = false;
};

// The work for one request. It may be cancelled before the handler has returned it.
class RequestWork {
 public:
  // Takes what the handler has returned. Null: there is none, or it has ended.
  void set(std::shared_ptr<Work> work);
  void cancel() noexcept;
  // The request has been answered: lets go of the work.
  void end();

 private:
  std::mutex mutex_;
  std::shared_ptr<Work> work_;
  bool cancelled_ = false, ended_ = false;
};

}  // namespace millrace::serve
