#include "device/cpu/steps/buffers.h"

#include <algorithm>

namespace millrace::device::cpu {

BufferId BufferTable::add(Buffer buffer) {
  buffers_.push_back(std::move(buffer));
  return static_cast<BufferId>(buffers_.size() - 1);
}

BufferId BufferTable::add_arena(size_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.arena = true;
  return add(std::move(buffer));
}

BufferId BufferTable::add_constant(const std::byte* data, size_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.constant = data;
  return add(std::move(buffer));
}

BufferId BufferTable::add_caller(const CallerTensor& tensor, size_t bytes, bool or_arena) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.caller = tensor;
  buffer.arena = or_arena;
  return add(std::move(buffer));
}

void BufferTable::give_to_caller(BufferId id, const CallerTensor& tensor, bool keep_arena) {
  buffers_[id].caller = tensor;
  buffers_[id].arena = keep_arena;
}

void BufferTable::place_inside(BufferId child, BufferId parent, size_t offset) {
  Buffer& part = buffers_[child];
  part.parent = parent;
  part.offset = offset;
  Buffer& whole = buffers_[root(parent)];
  whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  buffers_[parent].has_parts = true;
  if (part.touched) {
    touch(parent, part.first);
    touch(parent, part.last);
  }
}

bool BufferTable::is_own(BufferId id) const {
  const Buffer& buffer = buffers_[id];
  return buffer.arena && !buffer.caller && !buffer.parent;
}

BufferId BufferTable::root(BufferId id) const {
  while (buffers_[id].parent) id = *buffers_[id].parent;
  return id;
}

void BufferTable::touch(BufferId id, uint32_t step) {
  Buffer& buffer = buffers_[root(id)];
  buffer.first = buffer.touched ? std::min(buffer.first, step) : step;
  buffer.last = buffer.touched ? std::max(buffer.last, step) : step;
  buffer.touched = true;
}

void BufferTable::add_value(BufferId id, graph::ValueId value) {
  buffers_[root(id)].values.push_back(value);
}

BufferLayout BufferTable::lay_out(graph::Placement placement) const {
  std::vector<graph::Lifetime> lifetimes;
  std::vector<size_t> lifetime_of(buffers_.size());
  for (size_t id = 0; id < buffers_.size(); ++id) {
    const Buffer& buffer = buffers_[id];
    if (!buffer.arena || buffer.parent || !buffer.touched) continue;
    lifetime_of[id] = lifetimes.size();
    lifetimes.push_back({buffer.bytes, buffer.first, buffer.last, std::nullopt});
  }
  const graph::MemoryPlan plan = graph::plan_memory(lifetimes, placement);
  BufferLayout layout{{}, plan.arena_bytes};
  for (size_t id = 0; id < buffers_.size(); ++id) {
    size_t offset = 0;
    BufferId whole = static_cast<BufferId>(id);
    for (; buffers_[whole].parent; whole = *buffers_[whole].parent)
      offset += buffers_[whole].offset;
    const Buffer& buffer = buffers_[whole];
    BufferLocation location{buffer.constant, buffer.caller, std::nullopt, offset};
    if (buffer.arena && buffer.touched) location.arena = plan.offsets[lifetime_of[whole]];
    layout.locations.push_back(location);
  }
  return layout;
}

}  // namespace millrace::device::cpu
