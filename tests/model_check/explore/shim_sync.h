// ShimSync: primitives with the interface of queue/waiting/sync.h whose every operation is a point
// of the Scheduler. Only one thread runs at a time and no value is ever old: what is explored is
// every order of operations, not what a weak memory model adds to them. Instead the orders that the
// code asks for are followed as happens-before, and Watched memory that is accessed without it is a
// failure.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "millrace/execution.hpp"
#include "tests/model_check/explore/scheduler.h"

namespace millrace::explore {

// The clock that a synchronisation object passes on from who released it to who acquires it.
class Released {
 public:
  void acquire() const noexcept {
    if (thread_index() >= 0) join(clock(), known_);
  }
  // A store: what was released before is gone. A read-modify-write continues it.
  void forget() noexcept { known_ = {}; }
  void release() noexcept {
    if (thread_index() < 0) return;
    join(known_, clock());
    ++clock()[thread_index()];
  }

 private:
  static void join(Clock& into, const Clock& from) noexcept {
    for (int thread = 0; thread < kMaxThreads; ++thread)
      if (into[thread] < from[thread]) into[thread] = from[thread];
  }
  Clock known_{};
};

// Whether the orders that the code asks for count, or every operation is relaxed.
enum class Orders : uint8_t { kAsGiven, kRelaxed };

template <class T, Orders kOrders>
class ShimAtomic {
 public:
  ShimAtomic(T value = {}) noexcept : value_(value) {}
  ShimAtomic(const ShimAtomic&) = delete;
  ShimAtomic& operator=(const ShimAtomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    point();
    acquire_if(order);
    show("load");
    return value_;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    point();
    released_.forget();
    release_if(order);
    value_ = value;
    show("store");
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify("exchange", order, [value](T) { return value; });
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify("fetch_add", order, [value](T old) { return static_cast<T>(old + value); });
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify("fetch_sub", order, [value](T old) { return static_cast<T>(old - value); });
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify("fetch_or", order, [value](T old) { return static_cast<T>(old | value); });
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify("fetch_and", order, [value](T old) { return static_cast<T>(old & value); });
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    point();
    if (value_ != expected) {
      acquire_if(failure);
      expected = value_;
      show("compare_exchange fails at");
      return false;
    }
    acquire_if(success);
    release_if(success);
    value_ = desired;
    show("compare_exchange");
    return true;
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, desired, order, without_release(order));
  }
  // Never fails without a reason: a loop around it would do the same again.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired,
                             std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, desired, order);
  }

 private:
  static std::memory_order without_release(std::memory_order order) noexcept {
    if (order == std::memory_order_release) return std::memory_order_relaxed;
    return order == std::memory_order_acq_rel ? std::memory_order_acquire : order;
  }
  void acquire_if(std::memory_order order) const noexcept {
    if (kOrders == Orders::kAsGiven && order != std::memory_order_relaxed &&
        order != std::memory_order_release)
      released_.acquire();
  }
  void release_if(std::memory_order order) noexcept {
    if (kOrders == Orders::kAsGiven && order != std::memory_order_relaxed &&
        order != std::memory_order_acquire && order != std::memory_order_consume)
      released_.release();
  }
  void show(const char* what) const noexcept { note(what, static_cast<uint64_t>(value_), this); }

  template <class Change>
  T modify(const char* what, std::memory_order order, const Change& change) noexcept {
    point();
    acquire_if(order);
    release_if(order);
    const T old = std::exchange(value_, change(value_));
    show(what);
    return old;
  }

  T value_;
  Released released_;
};

class ShimMutex {
 public:
  void lock() noexcept {
    await([this] { return !held_; });
    held_ = true;
    released_.acquire();
    note("lock", 1, this);
  }
  bool try_lock() noexcept {
    point();
    if (held_) return false;
    held_ = true;
    released_.acquire();
    note("try_lock", 1, this);
    return true;
  }
  // Not a switching point: the steps up to the next point give the same result before and after it.
  void unlock() noexcept {
    released_.release();
    held_ = false;
    note("unlock", 0, this);
  }

 private:
  bool held_ = false;
  Released released_;
};

// A deadline passes at any moment that suits the exploration, but never kNoDeadline.
class ShimParker {
 public:
  bool park_until(Deadline deadline) noexcept {
    if (deadline == kNoDeadline)
      await([this] { return token_; });
    else
      point({}, Switch::kVoluntary);
    released_.acquire();
    note(token_ ? "park: woken" : "park: deadline", token_ ? 1 : 0, this);
    return std::exchange(token_, false);
  }
  void park() noexcept { park_until(kNoDeadline); }
  void unpark() noexcept {
    point();
    released_.release();
    token_ = true;
    note("unpark", 1, this);
  }

 private:
  bool token_ = false;
  Released released_;
};

template <Orders kOrders = Orders::kAsGiven>
struct BasicShimSync {
  template <class T>
  using Atomic = ShimAtomic<T, kOrders>;
  using Mutex = ShimMutex;
  using Parker = ShimParker;
};
using ShimSync = BasicShimSync<>;

// Stands for memory that is not atomic: its users report every access.
class Watched {
 public:
  void read() const { access(false); }
  void write() { access(true); }

 private:
  void access(bool writes) const {
    const int self = thread_index();
    if (self < 0) return;
    for (int thread = 0; thread < kMaxThreads; ++thread)
      require(thread == self || (written_[thread] <= clock()[thread] &&
                                 (!writes || read_[thread] <= clock()[thread])),
              "memory is used by two threads and nothing orders them");
    (writes ? written_ : read_)[self] = clock()[self];
  }

  // The clock of each thread, counted in releases, at its last access.
  mutable Clock written_{}, read_{};
};

}  // namespace millrace::explore
