// Implementation: a kernel for convolutions (the operator Conv) in floating point: which
// convolutions it is for, in which layout, how fast it is, and how its step is made.
//
// list.cpp has all of them in one ordered table. A new kernel is a row there and a folder beside
// this one. Kernels on the integers of quantised values have a list of their own (Lowering::lower()
// in kernels/quantised/convolution).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::kernels {

// How plans choose an implementation: by its form, and by the time that its step takes.
struct PlannedKernel {
  // The name that StepInfo::implementation and records have.
  const char* name;
  // The form for which plans choose it. list.cpp checks that no other kernel has it, because
  // records tell the kernels of a convolution apart by their forms. A kernel whose form has
  // channels innermost is considered instead of oneDNN's kernels in that layout.
  Form form;
  // Whether it can compute the convolution, by shape, type and processor, if weights are constant.
  bool (*can_compute)(const Convolution& convolution);
  // The layout of image and result, of these dimensions.
  Desc (*image_layout)(const Dims& dims, ElementType type);
  // Nanoseconds that its step takes, on operands of its own. Requirement: can_compute(). May throw
  // what guarded() catches.
  uint64_t (*time)(const Convolution& convolution, const Stopwatch& stopwatch);
  // Whether the rule chooses its form, by a simple estimate of the time. Null if the rule chooses
  // the form for another reason.
  bool (*is_worthwhile)(const Convolution& convolution) = nullptr;
};

struct Implementation {
  // Adds the step of the Conv that is being lowered, or leaves the Conv to a later node
  // (Builder::postpone), and returns true. Returns false, with nothing added, if the convolution,
  // its form or its operands are not for this implementation. May throw oneDNN's exceptions (see
  // guarded()).
  Result<bool> (*lower)(Builder& builder, const graph::Node& node, const graph::Conv& op);
  // Absent for an implementation that plans do not choose by its time: it takes the convolutions
  // that lower() accepts.
  std::optional<PlannedKernel> planned = std::nullopt;
};

// Returns the implementations in the order in which they are tried. The last one, by oneDNN's
// primitives, takes every convolution that oneDNN has, in any form. Thread-safe.
std::span<const Implementation> convolution_implementations() noexcept;

}  // namespace millrace::device::cpu::kernels
