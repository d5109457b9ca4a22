// Communicator: the collective operations of a group of ranks, as in MPI or NCCL. Ranks are
// processes on one or several hosts, or threads of a test.
//
// Every rank of the group must call the same operations with the same sizes and types in the same
// order. The ranks compare their calls before they exchange data; if two differ, all ranks fail
// with a message that names both calls. An operation blocks until this rank has received all its
// data and the memory that it sends may be overwritten.
//
// An operation fails on every rank when a rank has died, has not called it in time, or has given
// up; the status names the operation and that rank. A call that detects that a rank has ended
// waits, for a second at most, until the other ranks know it, too. A rank that calls later than
// that, or is in the middle of longer data, names the rank that it waits for instead. After a
// failure the communicator cannot be used: each later operation fails at once with the first cause,
// and the contents of outputs are undefined. A new one has to be made.
//
// Reductions give the same bits on every rank and in every run, whatever the timing: the operands
// are combined in a fixed binary tree over the ranks. Neighbours are combined first, 0 with 1, 2
// with 3 and so on, then neighbours among the results, until one is left; an operand without a
// neighbour goes to the next round unchanged. Integers wrap around. FLOAT32 and FLOAT64 are
// combined in their own type, shorter floating-point types in FLOAT32, rounded once at the end (to
// nearest, ties to even). Max and min give NaN if an operand is NaN.
//
// Thread-safe: concurrent calls run one after another, so their order has to agree with the order
// on the other ranks. Threads that must be independent of each other use a channel each (group()).
// Memory is only accessed during a call.
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

// Lets the caller end a call that waits for other ranks. stop_requested() is called on the thread
// of the call, at least ten times a second while it waits.
class StopCheck {
 public:
  virtual bool stop_requested() noexcept = 0;

 protected:
  ~StopCheck() = default;
};

// Limits the time of a call, besides the timeout of the communicator. A call that is ended by
// `deadline` or `stop` fails with kDeadlineExceeded or kCancelled, and so does the communicator.
struct Limit {
  Deadline deadline = kNoDeadline;
  StopCheck* stop = nullptr;  // may be null
};

// One block of memory per rank of the group, all of the same size.
template <class Byte>
class BasicBlocks {
 public:
  // `blocks` contiguous blocks from `base` on.
  BasicBlocks(Byte* base, size_t bytes_each, uint32_t blocks) noexcept
      : base_(base), bytes_(bytes_each), count_(blocks) {}
  // One block at each pointer. The array of pointers must stay valid.
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

  // Return the position of this process in the group, and the number of ranks in it.
  virtual uint32_t rank() const noexcept = 0;
  virtual uint32_t size() const noexcept = 0;

  // All operations return kInvalidArgument, at once and without telling the other ranks, for sizes
  // that are not whole elements or do not match, and for a rank outside the group. Inputs and
  // outputs must not overlap, with these exceptions: an output may be the same memory as an input
  // of the same size; the input of all_gather may be one of the output blocks; and the output of
  // reduce_scatter may be the input block of this rank.

  // `output` becomes the reduction of all ranks' inputs. Both have the same size on all ranks.
  virtual Status all_reduce(std::span<const std::byte> input, std::span<std::byte> output,
                            Element element, Reduction reduction, const Limit& limit) = 0;
  // `output` becomes the reduction of input block rank() of all ranks.
  virtual Status reduce_scatter(const InputBlocks& inputs, std::span<std::byte> output,
                                Element element, Reduction reduction, const Limit& limit) = 0;
  // Output block r becomes the input of rank r.
  virtual Status all_gather(std::span<const std::byte> input, const OutputBlocks& outputs,
                            const Limit& limit) = 0;
  // `data` becomes a copy of the data of rank `root`.
  virtual Status broadcast(std::span<std::byte> data, uint32_t root, const Limit& limit) = 0;
  // Output block r becomes the input block rank() of rank r.
  virtual Status all_to_all(const InputBlocks& inputs, const OutputBlocks& outputs,
                            const Limit& limit) = 0;
  // Sends `input` to rank `to` and receives `output` from rank `from`, if they are set. All ranks
  // of the group call it, each with its own part of the permutation. All inputs and outputs have
  // the same size.
  virtual Status permute(std::span<const std::byte> input, std::optional<uint32_t> to,
                         std::span<std::byte> output, std::optional<uint32_t> from,
                         const Limit& limit) = 0;
  // Returns when all ranks have called it.
  virtual Status barrier(const Limit& limit) = 0;

  // Returns a communicator of a subset of this one's ranks, which must contain rank(). The position
  // in the list is the rank in the new group. All its ranks call this with the same list and
  // channel; different groups or channels are independent of each other, except that a failure of
  // one fails all. This call exchanges no messages, and may be made at any time. kInvalidArgument
  // for a list with a rank that does not exist or is in it twice; kUnsupported if no more channels
  // are possible.
  virtual Result<std::shared_ptr<Communicator>> group(std::span<const uint32_t> ranks,
                                                      uint32_t channel) = 0;

  // Returns why no operation can succeed any more: the cause of the first failure of this
  // communicator or of another of the same ranks. OK if there was none.
  virtual Status failure() const noexcept { return {}; }
};

}  // namespace millrace::ranks
