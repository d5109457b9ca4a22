// process_wide<T>(): returns the process's shared T. It is created on first use and again after the
// last pointer to it is gone. Thread-safe, also while the process exits.
#pragma once

#include <memory>
#include <mutex>

#include "base/never_destroyed.h"

namespace millrace::queue {

template <class T>
std::shared_ptr<T> process_wide() {
  struct Current {
    std::mutex mutex;
    std::weak_ptr<T> object;
  };
  static NeverDestroyed<Current> made;
  Current& current = made.get();
  const std::lock_guard lock(current.mutex);
  std::shared_ptr<T> object = current.object.lock();
  if (!object) {
    object = std::make_shared<T>();
    current.object = object;
  }
  return object;
}

}  // namespace millrace::queue
