// Packing: the constants of the model that a program has yet to bring into the layouts of its
// kernels.
//
// To pack them is most of what a load has to do, and nothing reads them before the first job. So
// the builder only notes them, and when it has ended, the loading thread and the lanes that have
// nothing to do pack them, one after the other, all into one block of memory.
//
// An object belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "device/cpu/buffers.h"
#include "device/cpu/dnnl_adapter.h"
#include "device/cpu/step.h"
#include "device/cpu/weights/constant_memory.h"
#include "graph/graph.h"
#include "queue/lanes/lanes.h"

namespace millrace::device::cpu {

class Packing {
 public:
  // `buffer` is to hold the elements of the constant, which lie as `from` says, in the layout `to`.
  // Where `from` is of FP32 and the constant is not, its elements are taken as numbers. The
  // constant stays where it is until run() has returned.
  void add(const graph::Value& constant, const Desc& from, const Desc& to, BufferId buffer);

  // Packs all that was added into memory of `constants`, and has the buffers of `layout` lie there.
  // Blocks. Throws nothing but std::bad_alloc.
  Status run(queue::Lanes& lanes, const dnnl::engine& engine, ConstantMemory& constants,
             BufferLayout& layout) const;

 private:
  struct Item {
    const graph::Value* constant;
    Desc from, to;
    BufferId buffer;
    size_t offset;  // in the block
  };

  std::vector<Item> items_;
  size_t bytes_ = 0;  // of the block
};

}  // namespace millrace::device::cpu
