// BatchMember: a request that a Batcher may run together with others, in one job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "millrace/tensor.hpp"
#include "millrace/unit.hpp"

namespace millrace::serve {

class BatchMember {
 public:
  virtual ~BatchMember() = default;
  // The frames or, where requests are joined along the leading dimension, the rows.
  virtual uint32_t frames() const noexcept = 0;
  virtual Deadline deadline() const noexcept = 0;
  // Appends the tensors of its frames, as JobArgs has them. Their memory must stay valid as long as
  // the member lives, also after finish(). Throws std::bad_alloc.
  virtual void bind(std::vector<TensorArg>& inputs, std::vector<TensorArg>& outputs) = 0;
  // Where requests are joined along the leading dimension: the bytes of an input; and takes the
  // rows of an output, which have this shape. Both may be called after finish(), while it lives.
  virtual std::span<const std::byte> input(size_t index) const noexcept = 0;
  virtual void take_output(size_t index, const TensorShape& shape,
                           std::span<const std::byte> rows) noexcept = 0;
  // Called before finish() if the job of the member has ended: says when it ran.
  virtual void ran(const JobSpan& span) noexcept = 0;
  // Called once, on any thread: answers the request. Unless the status is OK, a job may still use
  // the tensors.
  virtual void finish(const Status& status) noexcept = 0;
  // A job that hung may use the tensors for ever: their memory is never freed.
  virtual void keep_for_good() noexcept = 0;
};

}  // namespace millrace::serve
