#include "memory/buffer_handle.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/process/forked_child.h"

namespace millrace::memory {
namespace {

struct LiveHandles {
  std::mutex mutex;
  std::unordered_map<const void*, const Buffer*> buffers;
};

LiveHandles& live_handles() {
  // Never destroyed, since handles may be released while the process exits.
  static LiveHandles* made = new LiveHandles;
  return *made;
}

}  // namespace

BufferHandle::BufferHandle(const void* pointer, Buffer buffer)
    : pointer_(pointer), buffer_(std::move(buffer)) {
  LiveHandles& live = live_handles();
  const std::lock_guard lock(live.mutex);
  live.buffers.insert_or_assign(pointer_, &buffer_);
}

BufferHandle::~BufferHandle() {
  if (is_forked_child()) return;
  LiveHandles& live = live_handles();
  const std::lock_guard lock(live.mutex);
  live.buffers.erase(pointer_);
}

void BufferHandle::move_to(const void* pointer) noexcept {
  if (is_forked_child()) return;
  LiveHandles& live = live_handles();
  const std::lock_guard lock(live.mutex);
  // The node is reused, so that nothing is allocated.
  auto node = live.buffers.extract(pointer_);
  node.key() = pointer_ = pointer;
  live.buffers.insert(std::move(node));
}

Buffer BufferHandle::find(const void* pointer) {
  if (is_forked_child()) return {};
  LiveHandles& live = live_handles();
  const std::lock_guard lock(live.mutex);
  const auto found = live.buffers.find(pointer);
  return found == live.buffers.end() ? Buffer() : *found->second;
}

}  // namespace millrace::memory
