// Boundary: one input or output of a program. It checks the memory that callers bind, and converts
// between the view that they bind and a view that the program accepts.
//
// A Boundary is immutable after plan(), and so thread-safe. The staging memory of a conversion
// belongs to the lane that runs the job (executor.h), so running jobs share nothing.
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
  // Plans the conversions for tensor `index` of the program's inputs or outputs. kInternal when the
  // program accepts neither view, or the two views cannot be converted into each other.
  static Result<Boundary> plan(const device::Program& program, device::Direction direction,
                               size_t index);

  // Checks view, pointer and alignment. kInvalidArgument, naming the tensor, for a view that it
  // does not have, and for a pointer that is misaligned, or null although the tensor has elements.
  Status check(const TensorBinding& binding) const {
    return fits(binding) ? Status() : check_closely(binding);
  }
  // The fast part of check(): false means that only check() can decide.
  bool fits(const TensorBinding& binding) const noexcept {
    const auto view = static_cast<size_t>(binding.view);
    // The size of an element is a power of two.
    return view < 2 && element_bytes_[view] != 0 && binding.data != nullptr &&
           (reinterpret_cast<uintptr_t>(binding.data) & (element_bytes_[view] - 1)) == 0;
  }

  // Returns whether each job determines dimensions of the tensor. It then has a CPU view only,
  // which the program accepts.
  bool is_open() const noexcept { return open_; }
  // Checks an open tensor that has passed check(): the dimensions of an input must be stated, must
  // match the model, and must fit into its memory. The memory of a tensor without elements, or of
  // an output without bytes, may be null. Does nothing for other tensors.
  Status check_open(const TensorBinding& binding, const OpenTensor& tensor) const;

  // kInvalidArgument, naming the tensor, if the bound view would be converted.
  Status check_in_place(const TensorBinding& binding) const;

  // Returns whether the program uses the bound memory directly: then staging passes that memory on,
  // and finishing an output does nothing.
  bool takes(const TensorBinding& binding) const noexcept {
    return in_place(binding.view) && binding.device_side == nullptr;
  }
  // Sets `staged` to the binding that the program gets for an input. If the program does not accept
  // the bound view, converts it into `staging`, which is allocated on first use. Counts the
  // conversion, also if the program itself converts.
  Status stage_input(const TensorBinding& binding, memory::Buffer& staging,
                     BoundaryConversions& conversions, device::Binding& staged) const;
  // Like stage_input(), for an output: the program writes into `staging`, and finish_output() then
  // converts from there into the memory that the caller bound.
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

  std::string label_;                  // for messages: input "data"
  size_t bytes_[2] = {0, 0};           // by view; 0 where dimensions are open
  size_t element_bytes_[2] = {0, 0};   // by view; 0 for a view that does not exist
  bool accepts_[2] = {false, false};   // by view
  bool in_place_[2] = {false, false};  // by view: accepted, and not converted by the program
  bool open_ = false;
  bool input_ = false;
  tensor::DataType type_ = tensor::DataType::kUnknown;  // type of the CPU view
  std::vector<uint32_t> shape_;                         // shape of an open tensor
  std::optional<tensor::Conversion> conversion_;        // set if only one of both views is accepted
};

}  // namespace millrace::runtime
