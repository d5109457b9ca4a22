// Boundary: one input or output of a program, between the view a caller binds and the view the
// program takes.
//
// Planned once per program and then only read, and so thread-safe. The staging memory of a
// conversion belongs to the lane that runs the job (see executor.h), so that nothing is shared
// while running.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "memory/buffer.h"
#include "runtime/jobs/job.h"
#include "tensor/conversion/conversion.h"

namespace millrace::runtime {

class Boundary {
 public:
  // Plans how each view of the tensor reaches the program. kInternal when the program accepts
  // neither view, or the two views do not convert into each other.
  static Result<Boundary> plan(const device::Program& program, device::Direction direction,
                               size_t index);

  // kInvalidArgument, naming the tensor, for a null (unless it has no elements) or misaligned
  // pointer or a view that this boundary does not have.
  Status check(const TensorBinding& binding) const {
    return fits(binding) ? Status() : check_closely(binding);
  }
  // False: ask check(), which knows what else may be bound.
  bool fits(const TensorBinding& binding) const noexcept {
    const auto view = static_cast<size_t>(binding.view);
    // Elements have a power of two of bytes.
    return view < 2 && element_bytes_[view] != 0 && binding.data != nullptr &&
           (reinterpret_cast<uintptr_t>(binding.data) & (element_bytes_[view] - 1)) == 0;
  }

  // Whether jobs settle dimensions of the tensor. It then has a CPU view only, which the program
  // takes.
  bool is_open() const noexcept { return open_; }
  // Checks, for an open tensor that has passed check(), that the dimensions of an input are stated,
  // possible here, and fit into its memory. The memory of a tensor without elements, or of an
  // output without bytes, may be null.
  Status check_open(const TensorBinding& binding, const OpenTensor& tensor) const;

  // kInvalidArgument, naming the tensor, where the bound view would be converted.
  Status check_in_place(const TensorBinding& binding) const;

  // Returns whether the program uses the bound memory directly: then staging passes that memory on,
  // and finishing an output does nothing.
  bool takes(const TensorBinding& binding) const noexcept {
    return in_place(binding.view) && binding.device_side == nullptr;
  }
  // `staged` is what the program gets for an input. A view that it does not take is converted into
  // `staging` (made on first use). Conversions are counted, those by the program, too.
  Status stage_input(const TensorBinding& binding, memory::Buffer& staging,
                     BoundaryConversions& conversions, device::Binding& staged) const;
  // The same for an output: the program writes into `staging`, and finish_output() then converts
  // from there into what the caller bound.
  Status stage_output(const TensorBinding& binding, memory::Buffer& staging,
                      device::Binding& staged) const;
  void finish_output(const TensorBinding& binding, const memory::Buffer& staging,
                     BoundaryConversions& conversions) const noexcept;

 private:
  Boundary() = default;
  Status check_closely(const TensorBinding& binding) const;
  bool direct(device::View view) const noexcept { return accepts_[static_cast<size_t>(view)]; }
  bool in_place(device::View view) const noexcept { return in_place_[static_cast<size_t>(view)]; }
  device::View other_view(device::View view) const noexcept;
  void count(device::View view, BoundaryConversions& conversions) const noexcept;
  Status make_staging(device::View view, memory::Buffer& staging) const;
  Status check_shape(const TensorShape* shape) const;
  Status no_memory() const;

  std::string label_;                  // used in messages: input "data"
  size_t bytes_[2] = {0, 0};           // by view; 0 where dimensions are open
  size_t element_bytes_[2] = {0, 0};   // by view; 0 for a view that does not exist
  bool accepts_[2] = {false, false};   // by view
  bool in_place_[2] = {false, false};  // by view: accepted, and not converted by the program
  bool open_ = false;
  bool input_ = false;
  tensor::DataType type_ = tensor::DataType::kUnknown;  // type of the CPU view, as the shape
  std::vector<uint32_t> shape_;                         // shape of an open tensor
  std::optional<tensor::Conversion> conversion_;        // set if only one of two views is accepted
};

}  // namespace millrace::runtime
