// The one object of its kind in the process: made when first asked for, alive as long as a pointer
// to it is kept. Thread-safe, also while the process exits.
#pragma once

#include <memory>
#include <mutex>

namespace millrace::queue {

template <class T>
std::shared_ptr<T> process_wide() {
  // Never destroyed: units may be made and end while the process exits.
  static auto* mutex = new std::mutex;
  static auto* current = new std::weak_ptr<T>;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<T> object = current->lock();
  if (!object) {
    object = std::make_shared<T>();
    *current = object;
  }
  return object;
}

}  // namespace millrace::queue
