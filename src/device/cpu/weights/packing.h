// Packing: the constants of the model that a program has yet to bring into the layouts of its
// kernels.
//
// To pack them is most of what a load has to do, and nothing reads them before the first job. So
// the builder only notes them, and when it has ended, the loading thread and the lanes that have
// nothing to do pack them, one after the other, all into one block of memory. Where the variable
// MILLRACE_PACKED_WEIGHTS names a folder, the block is kept in a file there, and the next load maps
// it (packed_file.h).
//
// An object belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/cpu/dnnl/calls.h"
#include "device/cpu/steps/buffers.h"
#include "device/cpu/steps/step.h"
#include "device/cpu/weights/constant_memory.h"
#include "device/cpu/weights/packed_file.h"
#include "graph/graph.h"
#include "queue/lanes/lanes.h"

namespace millrace::device::cpu {

// A form for constants that is no layout of oneDNN.
struct Arrangement {
  std::string identity;  // the same for the same form
  size_t bytes = 0;
  // Brings the elements of a constant, in C order, into the form. Thread-safe.
  std::function<void(const float* from, std::byte* to)> arrange;
};

class Packing {
 public:
  // `buffer` is to hold the elements of the constant, which lie as `from` says, in the layout `to`.
  // If `from` is of FP32 and the constant is not, its elements are taken as numbers. The
  // constant stays where it is until run() has returned.
  void add(const graph::Value& constant, const Desc& from, const Desc& to, BufferId buffer);
  // The same for elements that are taken as numbers, and brought into a form of their own.
  void add(const graph::Value& constant, Arrangement to, BufferId buffer);

  // Packs all that was added into memory of `constants`, or finds it in a file, which stays mapped
  // while this object lives; and has the buffers of `layout` lie there. A file that cannot be read
  // or written is logged. Where the model is mapped from a file, what the packed constants took
  // there leaves the memory of the process. Blocks. Throws nothing but std::bad_alloc.
  Status run(queue::Lanes& lanes, const dnnl::engine& engine, ConstantMemory& constants,
             BufferLayout& layout);

 private:
  struct Item {
    const graph::Value* constant;
    Desc from, to;            // of oneDNN,
    Arrangement arrangement;  // or, with a function, this
    BufferId buffer;
    size_t offset;  // in the block
    size_t bytes() const { return arrangement.arrange ? arrangement.bytes : to.get_size(); }
  };

  void add(Item item);

  // Calls `work` with the number of each item, on the calling thread and on idle lanes.
  Status for_each(queue::Lanes& lanes, const std::function<Status(size_t)>& work) const;
  Status find_or_keep(const std::string& folder, queue::Lanes& lanes, const dnnl::engine& engine,
                      ConstantMemory& constants, BufferLayout& layout);
  // Takes the checksums that the archive states, where it does, or those of the bytes.
  Result<PackedOrigin> origin(queue::Lanes& lanes, bool as_stated) const;
  Status map(queue::Lanes& lanes, const PackedOrigin& origin, const std::string& path);
  Status pack(queue::Lanes& lanes, const dnnl::engine& engine, std::byte* block) const;
  Status keep(queue::Lanes& lanes, const PackedOrigin& origin, const std::string& path,
              std::byte* head) const;
  void release_constants() const;
  void place(const std::byte* block, BufferLayout& layout) const;

  std::vector<Item> items_;
  size_t bytes_ = 0;  // of the block
  std::shared_ptr<const model::MappedFile> file_;
};

}  // namespace millrace::device::cpu
