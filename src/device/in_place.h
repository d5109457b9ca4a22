// takes_in_place(): whether a program uses the memory of a job's tensor directly.
#pragma once

#include <cstddef>

#include "device/device.h"

namespace millrace::device {

// Returns true for a view that the program accepts, except for the CPU view of a tensor whose HW
// view is requantised, which steps of the program convert. Requirement: the boundary exists.
inline bool takes_in_place(const Program& program, Direction direction, size_t index, View view) {
  const graph::CompiledModel& model = program.model();
  const auto& boundaries = direction == Direction::kInput ? model.inputs : model.outputs;
  if (view == View::kCpu && boundaries[index].requantised) return false;
  return program.accepts(direction, index, view);
}

}  // namespace millrace::device
