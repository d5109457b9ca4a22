// Communicator: the collective operations of a group of ranks, which are processes on one or
// several hosts, or threads of a test.
//
// Every rank of the group calls the same operations with the same sizes and types in the same
// order; the ranks compare what they call before they exchange data, and all of them fail with a
// message that names both sides where two differ. An operation blocks until this rank has all that
// it receives and all that it sends may be overwritten. It fails on every rank when a rank has
// died, has not come in time, or has given up; the status names the operation and that rank. A call
// that finds that a rank has ended returns when the others of its group have heard of it, or after
// a second; one that comes later than that, or is amid longer data, names the rank that it waits
// for. After a failure the communicator is of no use any more: each later operation fails at once
// with the first cause, and the contents of outputs are undefined. Make another one.
//
// Reductions give the same bits on every rank, in every run, for any timing: the operands are
// combined in a fixed tree over the ranks. Neighbours are combined first, 0 with 1, 2 with 3 and so
// on, then neighbours among the results, until one is left; one that has no neighbour goes to the
// next round as it is. Integers wrap around. FLOAT32 and FLOAT64 are combined in their own type,
// the shorter floating types in FLOAT32 and rounded to nearest even once, at the end. Max and min
// give NaN where an operand is NaN.
//
// One operation runs at a time; concurrent callers are served one after the other, so they must
// agree with the other ranks about the order. Threads that want to be independent of each other
// take a channel each. Memory is borrowed for the time of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "ranks/element.h"

namespace millrace::ranks {

// Ends a call that waits for other ranks, besides the limit that the communicator was made with.
// Asked on the thread of the call, at least ten times a second while it waits.
class StopCheck {
 public:
  virtual bool stop_requested() noexcept = 0;

 protected:
  ~StopCheck() = default;
};

// Limits the time of a call. A call that is ended by either fails with kDeadlineExceeded or
// kCancelled, and so does the communicator.
struct Limit {
  Deadline deadline = kNoDeadline;
  StopCheck* stop = nullptr;  // none where null
};

// One block of memory per rank of the group, all of the same size.
template <class Byte>
class BasicBlocks {
 public:
  // `blocks` blocks, one after another from `base` on.
  BasicBlocks(Byte* base, size_t bytes_each, uint32_t blocks) noexcept
      : base_(base), bytes_(bytes_each), count_(blocks) {}
  // Each where its pointer says. The pointers are borrowed.
  BasicBlocks(std::span<Byte* const> blocks, size_t bytes_each) noexcept
      : list_(blocks.data()), bytes_(bytes_each), count_(static_cast<uint32_t>(blocks.size())) {}

  uint32_t count() const noexcept { return count_; }
  size_t bytes_each() const noexcept { return bytes_; }
  std::span<Byte> operator[](uint32_t rank) const noexcept {
    return {list_ != nullptr ? list_[rank] : base_ + rank * bytes_, bytes_};
  }

 private:
  Byte* base_ = nullptr;
  Byte* const* list_ = nullptr;
  size_t bytes_ = 0;
  uint32_t count_ = 0;
};
using InputBlocks = BasicBlocks<const std::byte>;
using OutputBlocks = BasicBlocks<std::byte>;

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  // The position of this process in the group, and the number of ranks in it.
  virtual uint32_t rank() const noexcept = 0;
  virtual uint32_t size() const noexcept = 0;

  // In all operations: kInvalidArgument, at once and without a word to the other ranks, for sizes
  // that are no whole elements or do not belong together, and for a rank outside the group. An
  // output may be the same memory as the input, where they have the same size, or for all_gather
  // one of the output blocks, or for reduce_scatter the input block of this rank; otherwise they
  // must not overlap.

  // `output` becomes the reduction of all ranks' inputs. Both have the same size on all ranks.
  virtual Status all_reduce(std::span<const std::byte> input, std::span<std::byte> output,
                            Element element, Reduction reduction, const Limit& limit) = 0;
  // `output` becomes the reduction of what all ranks have as input block rank().
  virtual Status reduce_scatter(const InputBlocks& inputs, std::span<std::byte> output,
                                Element element, Reduction reduction, const Limit& limit) = 0;
  // Output block r becomes the input of rank r.
  virtual Status all_gather(std::span<const std::byte> input, const OutputBlocks& outputs,
                            const Limit& limit) = 0;
  // `data` becomes that of rank `root`.
  virtual Status broadcast(std::span<std::byte> data, uint32_t root, const Limit& limit) = 0;
  // Output block r becomes the input block rank() of rank r.
  virtual Status all_to_all(const InputBlocks& inputs, const OutputBlocks& outputs,
                            const Limit& limit) = 0;
  // Sends `input` to rank `to` and receives `output` from rank `from`; nothing where there is none.
  // All ranks of the group call it, each with its own part of the permutation. All inputs and
  // outputs have the same size.
  virtual Status permute(std::span<const std::byte> input, std::optional<uint32_t> to,
                         std::span<std::byte> output, std::optional<uint32_t> from,
                         const Limit& limit) = 0;
  // Returns when all ranks have called it.
  virtual Status barrier(const Limit& limit) = 0;

  // A communicator of those ranks of this one, which must contain rank(), in this order: the
  // position in the list is the rank in the group. All of them ask for the same list and channel;
  // two groups or channels are independent of each other. Exchanges nothing, and may be called at
  // any time. kInvalidArgument for a list with a rank that there is not, or one that is in it
  // twice; kUnsupported where there can be no more channels. A failure of one fails all.
  virtual Result<std::shared_ptr<Communicator>> group(std::span<const uint32_t> ranks,
                                                      uint32_t channel) = 0;

  // Returns why no operation can succeed any more: the cause of the first failure of this
  // communicator or of another of the same ranks. OK if there was none.
  virtual Status failure() const noexcept { return {}; }
};

}  // namespace millrace::ranks
