// The buffers of a program while it is built, and their locations at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/steps/step.h"
#include "device/device.h"
#include "graph/graph.h"
#include "graph/memory_plan.h"

namespace millrace::device::cpu {

// A boundary tensor, in the views for which `in_view` is set.
struct CallerTensor {
  Direction direction = Direction::kInput;
  uint32_t index = 0;
  std::array<bool, 2> in_view{};  // by View

  bool covers(View view) const noexcept { return in_view[static_cast<size_t>(view)]; }
};

// Location of a buffer at run time: a constant, else the caller's tensor if it is bound in a view
// that `caller` covers, else the arena if the buffer is planned there. `offset` counts from the
// start of the constant, the tensor or the buffer's part of the arena.
struct BufferLocation {
  const std::byte* constant = nullptr;
  std::optional<CallerTensor> caller;
  std::optional<size_t> arena;
  size_t offset = 0;
};

struct BufferLayout {
  std::vector<BufferLocation> locations;  // by BufferId
  size_t arena_bytes = 0;
};

class BufferTable {
 public:
  // Adds memory of the context, in use from the first step that touches it to the last.
  BufferId add_arena(size_t bytes);
  // Adds memory that the program keeps.
  BufferId add_constant(const std::byte* data, size_t bytes);
  // Adds the caller's tensor. With `or_arena`, the arena serves the views that it does not cover.
  BufferId add_caller(const CallerTensor& tensor, size_t bytes, bool or_arena);
  // Turns an arena buffer into add_caller()'s. Requirement: may_move(id).
  void give_to_caller(BufferId id, const CallerTensor& tensor, bool keep_arena);
  // Makes `child` a part of `parent`. Requirement: may_move(child).
  void place_inside(BufferId child, BufferId parent, size_t offset);

  // Keeps an arena buffer where it is, aligned to a page or cache line: it is not moved anywhere.
  // oneDNN 2.6 writes large results of resampling with non-temporal stores, which fault in the
  // memory of callers or in the middle of another buffer.
  void keep_aligned(BufferId id) { buffers_[id].keeps_place = true; }

  // True for an arena buffer that is not part of another.
  bool is_own(BufferId id) const;
  // Returns whether an own buffer may become the caller's or a part of another.
  bool may_move(BufferId id) const { return is_own(id) && !buffers_[id].keeps_place; }
  // Whether another buffer is a part of this one.
  bool has_parts(BufferId id) const { return buffers_[id].has_parts; }
  size_t bytes(BufferId id) const { return buffers_[id].bytes; }
  bool in_same_memory(BufferId a, BufferId b) const { return root(a) == root(b); }
  // True if the buffer lies in a caller's tensor that is read only.
  bool is_input(BufferId id) const {
    const std::optional<CallerTensor>& caller = buffers_[root(id)].caller;
    return caller && caller->direction == Direction::kInput;
  }
  // Notes that a step uses the buffer.
  void touch(BufferId id, uint32_t step);
  // Notes that a value is stored in the buffer, and so in the buffer that this is a part of.
  void add_value(BufferId id, graph::ValueId value);
  // The values in the same memory: of the buffer this one is part of, and of all its parts. The
  // caller may drop those that are not needed any more.
  std::vector<graph::ValueId>& values_with(BufferId id) { return buffers_[root(id)].values; }

  BufferLayout lay_out(graph::Placement placement) const;

 private:
  struct Buffer {
    size_t bytes = 0;
    const std::byte* constant = nullptr;
    std::optional<CallerTensor> caller;
    bool arena = false;
    bool has_parts = false;
    bool keeps_place = false;
    std::optional<BufferId> parent;
    size_t offset = 0;  // in parent
    std::vector<graph::ValueId> values;
    bool touched = false;
    uint32_t first = 0, last = 0;
  };
  BufferId root(BufferId id) const;
  BufferId add(Buffer buffer);

  std::vector<Buffer> buffers_;
};

}  // namespace millrace::device::cpu
