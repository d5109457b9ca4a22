// NeverDestroyed: holds an object with static storage that is never destroyed, so that threads may
// use it while the process exits. Unlike an object made by new, it needs no heap memory of its own.
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
