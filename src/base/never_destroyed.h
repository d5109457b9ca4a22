// NeverDestroyed: an object of the process that threads may use while the process exits, when
// objects with static storage are being destroyed. Its own memory is static, so that making it
// takes none from the heap.
//
//   static NeverDestroyed<Table> table;
//   return table.get();
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace millrace {

template <class T>
class NeverDestroyed {
 public:
  template <class... Args>
  explicit NeverDestroyed(Args&&... args) {
    new (storage_) T(std::forward<Args>(args)...);
  }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace millrace
