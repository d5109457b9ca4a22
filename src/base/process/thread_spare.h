// ThreadSpare: an object that a thread uses again from call to call, so that its memory is
// allocated once. While one call has it, a call within that call gets another one.
//
// Works at any time, also while the thread or the process ends: in atexit handlers, in destructors
// of static and of thread_local objects, and in those of pthread keys. A thread_local object does
// not: there it may have been destroyed before.
#pragma once

#include <pthread.h>

#include <cstdint>
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
  ThreadSpare() noexcept : object_(std::exchange(mine.spare, nullptr)) {
    if (object_ == nullptr) object_.reset(new (std::nothrow) T());
  }
  ~ThreadSpare() { keep(std::move(object_)); }
  ThreadSpare(const ThreadSpare&) = delete;
  ThreadSpare& operator=(const ThreadSpare&) = delete;

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_.get(); }

 private:
  enum class State : uint8_t { kNew, kRegistered, kEnded };

  // The end of the thread. A destructor of a thread_local object would do, too, but registering one
  // ends the program when there is no memory.
  static void free_spare(void*) noexcept {
    mine.state = State::kEnded;
    delete std::exchange(mine.spare, nullptr);
  }
  // Made on first use; deleted when the library is unloaded, so that no thread calls into it later.
  class Key {
   public:
    Key() noexcept : made_(pthread_key_create(&key_, free_spare) == 0) {}
    ~Key() {
      if (made_) pthread_key_delete(key_);
    }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;
    // Has free_spare called at the end of this thread.
    bool set() const noexcept { return made_ && pthread_setspecific(key_, this) == 0; }

   private:
    pthread_key_t key_{};
    const bool made_;
  };
  static bool register_end() noexcept {
    static const Key key;
    return key.set();
  }
  static void keep(std::unique_ptr<T> object) noexcept {
    OfThread& own = mine;
    if (own.spare != nullptr) return;
    if (own.state == State::kNew && register_end()) own.state = State::kRegistered;
    if (own.state == State::kRegistered) own.spare = object.release();
  }

  // Without constructor and destructor, so they are there for as long as the thread's memory is.
  // One object, since each access to one costs a call of the loader.
  struct OfThread {
    T* spare = nullptr;
    State state = State::kNew;
  };
  static inline constinit thread_local OfThread mine;

  std::unique_ptr<T> object_;
};

}  // namespace millrace
