#include "vart/buffer_object.h"

#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/forked_child.h"

namespace millrace::vartml {
namespace {

struct LiveObjects {
  std::mutex mutex;
  std::unordered_set<const void*> pointers;
};

LiveObjects& live_objects() {
  // Never destroyed: tensors may be released while the process exits.
  static LiveObjects* made = new LiveObjects;
  return *made;
}

}  // namespace

BufferObject::BufferObject(memory::Buffer buffer) : buffer_(std::move(buffer)) {
  LiveObjects& live = live_objects();
  const std::lock_guard lock(live.mutex);
  live.pointers.insert(this);
}

BufferObject::~BufferObject() {
  if (is_forked_child()) return;
  LiveObjects& live = live_objects();
  const std::lock_guard lock(live.mutex);
  live.pointers.erase(this);
}

memory::Buffer BufferObject::find(const void* pointer) {
  LiveObjects& live = live_objects();
  const std::lock_guard lock(live.mutex);
  if (live.pointers.count(pointer) == 0) return {};
  return static_cast<const BufferObject*>(pointer)->buffer_;
}

}  // namespace millrace::vartml
