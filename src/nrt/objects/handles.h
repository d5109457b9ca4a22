// Handles: the opaque pointers through which C programs refer to objects. The memory of a handle is
// never released, so a handle that was freed, or invalidated by nrt_close, is recognised as such
// instead of being a dangling pointer. Free handles are reused in the order in which they were
// freed, so that a stale handle is recognised for as long as possible.
//
// Thread-safe, except that a program must not free a handle while another thread uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <utility>

#include "base/never_destroyed.h"

namespace millrace::nrt {

// Base class of a handle type, whose handles refer to objects of type `Object`.
template <class Object>
class Handle {
 public:
  bool live() const noexcept { return live_.load(std::memory_order_acquire) == kLive; }
  // Requirement: live().
  const std::shared_ptr<Object>& object() const noexcept { return object_; }

 private:
  template <class H>
  friend class Handles;
  static constexpr uint64_t kLive = 0x6c69766568616e64;  // "livehand": unlikely in other memory

  std::atomic<uint64_t> live_{0};
  std::shared_ptr<Object> object_;
  Handle* next_free_ = nullptr;
};

// All handles of one type. `H` derives from Handle<Object>.
template <class H>
class Handles {
 public:
  using Object = typename std::decay_t<decltype(*std::declval<H&>().object())>;

  // Returns the only table of this type in the process. It is never destroyed.
  static Handles& of_process() {
    static NeverDestroyed<Handles> handles;
    return handles.get();
  }

  // Returns a live handle to the object. May throw bad_alloc; nothing has changed then.
  H* make(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    if (first_free_ == nullptr) append_free(all_.emplace_front());
    Base* const handle = first_free_;
    first_free_ = handle->next_free_;
    handle->object_ = std::move(object);
    handle->live_.store(Base::kLive, std::memory_order_release);
    return static_cast<H*>(handle);
  }

  // Returns the object of a live handle; a null pointer for any other handle, including null.
  static const std::shared_ptr<Object>& find(const H* handle) noexcept {
    static const std::shared_ptr<Object> none;
    return handle != nullptr && handle->live() ? handle->object() : none;
  }

  // Frees a live handle and returns its object, which other references may keep alive; null when
  // the handle is not live.
  std::shared_ptr<Object> drop(H* handle) noexcept {
    if (handle == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    return handle->live() ? end(*handle) : nullptr;
  }

  // Frees all live handles and drops their references to objects.
  void drop_all() noexcept {
    const std::lock_guard lock(mutex_);
    for (H& handle : all_)
      if (handle.live()) end(handle);
  }

  // Calls `visit(object)` for each live handle, with the table's mutex held: `visit` must not call
  // functions of the table.
  template <class Visit>
  void for_each(Visit&& visit) const {
    const std::lock_guard lock(mutex_);
    for (const H& handle : all_)
      if (handle.live()) visit(*handle.object());
  }

 private:
  using Base = Handle<Object>;

  // Requirement of end() and append_free(): mutex_ is held.
  std::shared_ptr<Object> end(Base& handle) noexcept {
    handle.live_.store(0, std::memory_order_release);
    append_free(handle);
    return std::exchange(handle.object_, nullptr);
  }
  void append_free(Base& handle) noexcept {
    handle.next_free_ = nullptr;
    (first_free_ == nullptr ? first_free_ : last_free_->next_free_) = &handle;
    last_free_ = &handle;
  }

  mutable std::mutex mutex_;
  std::forward_list<H> all_;  // an empty list allocates nothing
  // The free handles, a FIFO queue linked by next_free_: freeing a handle allocates nothing.
  Base* first_free_ = nullptr;
  Base* last_free_ = nullptr;
};

}  // namespace millrace::nrt
