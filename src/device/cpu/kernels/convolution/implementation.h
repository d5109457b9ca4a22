// Implementation: one kernel for convolutions (the operator Conv) in floating point, as what the
// device knows of it: for which it is, in which layout, how fast it is, and how its step is made.
//
// list.cpp has all of them in one ordered table. Whoever adds a kernel adds a row there, and its
// folder beside this one. Kernels on the integers of quantised values have a list of their own
// (Lowering::lower() in kernels/quantised/convolution).
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::kernels {

struct Implementation {
  // The name that StepInfo::implementation has, but for the primitives of oneDNN.
  const char* name;
  // The form in which plans consider it, if they do. No two implementations that can compute one
  // convolution may have the same form: records tell them apart by it. One with channels innermost
  // is considered instead of oneDNN's kernels in that layout.
  Form form;

  // These are null for an implementation that plans do not choose: it takes the convolutions that
  // lower() accepts, without being measured.
  //
  // Whether it can compute the convolution, by shape, type and processor, if weights are constant.
  bool (*can_compute)(const Convolution& convolution) = nullptr;
  // The layout of image and result, of these dimensions.
  Desc (*image_layout)(const Dims& dims, ElementType type) = nullptr;
  // Nanoseconds that its step takes, on operands of its own. Requirement: can_compute(). May throw
  // what guarded() catches.
  uint64_t (*time)(const Convolution& convolution, const Stopwatch& stopwatch) = nullptr;
  // Whether its form is the faster one by a simple estimate, where nothing was measured. Null where
  // the form is chosen for another reason.
  bool (*is_worthwhile)(const Convolution& convolution) = nullptr;

  // Adds the step of the Conv that is being lowered, or leaves the Conv to a later node
  // (Builder::postpone), and returns true; or returns false with nothing added, where the
  // convolution, its form or its operands are not for it. May throw oneDNN's exceptions (see
  // guarded()).
  Result<bool> (*lower)(Builder& builder, const graph::Node& node, const graph::Conv& op);
};

// In the order in which they are tried. The last one, of oneDNN's primitives, takes all that oneDNN
// has a convolution for, in any form. Thread-safe.
std::span<const Implementation> convolution_implementations() noexcept;

}  // namespace millrace::device::cpu::kernels
