// The calls of gRPC that bring inference requests, from their first message until gRPC has sent
// their last one; and the work for one request. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "serve/http/memory_charge.h"
#include "serve/http/message.h"

namespace millrace::serve {

class Call {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Call() = default;
  // Cancels the work of its requests, which are still answered.
  virtual void cancel() noexcept = 0;
  // Takes no further request. What has been taken is answered.
  virtual void take_no_more() = 0;
  // Ends the call at once, whatever its client has not taken.
  virtual void abort() = 0;

  // Whether gRPC has been sending one message since before `time`.
  bool sends_since_before(Clock::time_point time) const noexcept;
  // Whether the call has waited for a message since before `time`, without one that it answers.
  bool idles_since_before(Clock::time_point time) const noexcept;

 protected:
  // gRPC begins to send a message, and has sent it.
  void begin_sending() noexcept { sends_since_ = Clock::now().time_since_epoch().count(); }
  void end_sending() noexcept { sends_since_ = kNothing; }
  // Whether the call has no message that it answers. One thread at a time.
  void set_idle(bool idle) noexcept;

 private:
  friend class Calls;
  static constexpr Clock::rep kNothing = INT64_MAX;
  std::atomic<Clock::rep> sends_since_ = kNothing;
  std::atomic<Clock::rep> idles_since_ = kNothing;
  uint64_t number_ = 0;      // in the order of the begins; 0: not begun
  bool is_counted_ = false;  // whether the end of the server waits for it
};

class Calls {
 public:
  // Keeps the call until end(), which gRPC's last callback for it calls.
  void begin(std::shared_ptr<Call> call);
  void end(const Call* call);

  void cancel_all();
  // From now on, calls take no further request. Those that begin later are refused, so they are
  // kept as the others are, but nobody waits for them.
  void take_no_more();
  // Aborts the calls that have been sending one message since before `sending`, or have waited for
  // one since before `idle`.
  void abort_slow(Call::Clock::time_point sending, Call::Clock::time_point idle);
  // Waits until there is no call that began before take_no_more(). False if `limit` passed first.
  bool wait_for_none(Call::Clock::time_point limit);

 private:
  uint64_t last_number();
  std::shared_ptr<Call> find(uint64_t first, uint64_t last);
  template <class Visit>
  void for_each(Visit visit);

  std::mutex mutex_;
  std::condition_variable none_;
  std::map<uint64_t, std::shared_ptr<Call>> calls_;  // by their numbers
  uint64_t last_number_ = 0;
  size_t counted_ = 0;
  bool ending_ = false;
};

// The work for one request. It may be cancelled before the handler has returned it.
class RequestWork {
 public:
  // The limits are those of all requests together.
  RequestWork(MemoryCharge::Limit bodies, MemoryCharge::Limit answers)
      : body_(std::move(bodies)), answer_(std::move(answers)) {}

  // Take memory until this is destroyed, which is when gRPC has sent the answer. False if less is
  // left. Called once each.
  bool take_body(uint64_t bytes) noexcept { return body_.take(bytes); }
  bool take_answer(uint64_t bytes) noexcept { return answer_.take(bytes); }

  // Takes what the handler has returned. Null: there is none, or it has ended.
  void set(std::shared_ptr<Work> work);
  void cancel() noexcept;
  // The request has been answered: lets go of the work.
  void end();

 private:
  MemoryCharge body_, answer_;
  std::mutex mutex_;
  std::shared_ptr<Work> work_;
  bool cancelled_ = false, ended_ = false;
};

}  // namespace millrace::serve
