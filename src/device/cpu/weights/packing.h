// Packing: the constants of the model that are still to be brought into the layouts of kernels.
//
// Packing takes most of the time of a load, and nothing reads the constants before the first job.
// So the builder only notes them. When it has ended, the loading thread and idle lanes pack them,
// one after the other, into one block of memory. If the variable MILLRACE_PACKED_WEIGHTS names a
// folder, the block is kept in a file there, and the next load maps it (packed_file.h).
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
#include "device/cpu/weights/packed_store.h"
#include "graph/graph.h"
#include "queue/lanes/lanes.h"

namespace millrace::device::cpu {

// An arrangement of a constant that is no layout of oneDNN.
struct Arrangement {
  std::string identity;  // the same for the same arrangement
  size_t bytes = 0;
  // Arranges the elements of a constant, which are in C order. Thread-safe.
  std::function<void(const float* from, std::byte* to)> arrange;
};

class Packing {
 public:
  // Notes that `buffer` is to hold the constant in the layout `to`. Its elements are in the layout
  // `from`. If `from` is FP32 and the constant is not, they are converted or dequantised. The
  // constant must stay where it is until run() has returned.
  void add(const graph::Value& constant, const Desc& from, const Desc& to, BufferId buffer);
  // The same for an arrangement, which is made from FP32 elements.
  void add(const graph::Value& constant, Arrangement to, BufferId buffer);

  // Packs all that was added into memory of `constants`, or finds it in `store` or in a file, which
  // stays mapped while this object lives; and has the buffers of `layout` lie there. A file that
  // cannot be read or written is logged. Where the model is mapped from a file, what the packed
  // constants took there leaves the memory of the process. Blocks. Throws nothing but
  // std::bad_alloc.
  Status run(queue::Lanes& lanes, const dnnl::engine& engine, PackedStore& store,
             ConstantMemory& constants, BufferLayout& layout);

 private:
  struct Item {
    const graph::Value* constant;
    Desc from, to;            // of oneDNN,
    Arrangement arrangement;  // or, with a function, this
    BufferId buffer;
    size_t offset;  // in the block
    size_t bytes() const { return arrangement.arrange ? arrangement.bytes : to.get_size(); }
    std::string layout() const;
    PackedStore::Key key() const;
  };

  void add(Item item);
  // Places the constants that `store` has, and forgets them.
  void take_stored(PackedStore& store, ConstantMemory& constants, BufferLayout& layout);
  // Lets later programs find the constants of the block, which `owner` keeps.
  void store_block(PackedStore& store, const std::shared_ptr<const void>& owner,
                   const std::byte* block) const;

  // Calls `work` with the number of each item, on the calling thread and on idle lanes.
  Status for_each(queue::Lanes& lanes, const std::function<Status(size_t)>& work) const;
  // Both return where the block is.
  Result<const std::byte*> pack_all(queue::Lanes& lanes, const dnnl::engine& engine,
                                    ConstantMemory& constants) const;
  Result<const std::byte*> find_or_keep(const std::string& folder, queue::Lanes& lanes,
                                        const dnnl::engine& engine, ConstantMemory& constants);
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
