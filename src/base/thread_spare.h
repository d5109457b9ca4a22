// ThreadSpare: an object that a thread uses again from call to call, so that its memory is
// allocated once. While one call has it, a call within that call gets another one.
//
// Works at any time, also while the thread or the process ends: in atexit handlers, in destructors
// of static and of thread_local objects, and in those of pthread keys. A thread_local object does
// not: there it may have been destroyed before.
#pragma once

#include <memory>
#include <new>
#include <utility>

namespace millrace {

// T is default constructible without throwing. It comes in the state in which the last call on this
// thread has left it.
template <class T>
class ThreadSpare {
 public:
  // Empty when there is no memory.
  ThreadSpare() noexcept : object_(std::exchange(spare, nullptr)) {
    if (object_ == nullptr) object_.reset(new (std::nothrow) T());
  }
  ~ThreadSpare() { keep(std::move(object_)); }
  ThreadSpare(const ThreadSpare&) = delete;
  ThreadSpare& operator=(const ThreadSpare&) = delete;

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_.get(); }

 private:
  // Frees the spare with the other objects of the thread. What comes later frees itself.
  struct Owner {
    ~Owner() {
      ended = true;
      delete std::exchange(spare, nullptr);
    }
  };
  static void keep(std::unique_ptr<T> object) noexcept {
    if (ended || spare != nullptr) return;
    static thread_local const Owner owner;
    static_cast<void>(owner);
    spare = object.release();
  }

  // Without constructor and destructor, so they are there for as long as the thread's memory is.
  static inline constinit thread_local T* spare = nullptr;
  static inline constinit thread_local bool ended = false;

  std::unique_ptr<T> object_;
};

}  // namespace millrace
