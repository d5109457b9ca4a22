// ThreadSpare: lends an object that a thread reuses from call to call, so that its memory is
// allocated once. While one call has it, a nested call gets another object.
//
// It works at any time, also while the thread or the process ends: in atexit handlers, in
// destructors of static and of thread_local objects, and in those of pthread keys. A plain
// thread_local object may have been destroyed already in these places.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace millrace {

// The object is in the state in which the last call on this thread has left it. Requirement: the
// default constructor of T does not throw.
template <class T>
class ThreadSpare {
 public:
  // Takes the thread's object or makes a new one; empty when memory is exhausted.
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

  // Runs at the end of a thread. The destructor of a thread_local object is no alternative, since
  // registering one terminates the program when memory is exhausted.
  static void free_spare(void*) noexcept {
    mine.state = State::kEnded;
    delete std::exchange(mine.spare, nullptr);
  }
  // The pthread key, created on first use. It is deleted when the library is unloaded, so that no
  // thread calls into the library afterwards.
  class Key {
   public:
    Key() noexcept : made_(pthread_key_create(&key_, free_spare) == 0) {}
    ~Key() {
      if (made_) pthread_key_delete(key_);
    }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;
    // Arranges that free_spare() is called at the end of this thread.
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

  // The thread-local state. It is trivial, so that it can be used as long as the thread's memory
  // exists, and a single object, since each access to a thread-local object calls the loader.
  struct OfThread {
    T* spare = nullptr;
    State state = State::kNew;
  };
  static inline constinit thread_local OfThread mine;

  std::unique_ptr<T> object_;
};

}  // namespace millrace
