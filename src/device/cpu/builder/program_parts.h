// The result of lowering a model: steps, where their buffers lie, and the constants they read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device/cpu/steps/buffers.h"
#include "device/cpu/steps/step.h"
#include "device/cpu/weights/constant_memory.h"
#include "device/cpu/weights/packing.h"
#include "device/device.h"

namespace millrace::device::cpu {

// A step that runs only in jobs that bind a boundary tensor in a certain view.
struct ViewCondition {
  Direction direction = Direction::kInput;
  uint32_t index = 0;
  View view = View::kCpu;
};

struct ProgramStep {
  std::unique_ptr<const Step> step;
  StepInfo info;
  std::optional<ViewCondition> only_in;
  uint32_t threads = 1;  // of OpenMP that it runs with: the chunks that it is divided into
  // A collective that is begun here, and runs beside the steps that follow (overlap.h).
  bool is_begun = false;
  // The number of begun collectives, from the first on, that must have ended before this step runs.
  uint32_t awaits = 0;
};

// The result of a finished builder. `packing` has yet to run.
struct ProgramParts {
  std::vector<ProgramStep> steps;
  BufferLayout buffers;
  ConstantMemory constants;
  Packing packing;  // keeps what it has mapped
  uint64_t weight_bytes = 0;
};

}  // namespace millrace::device::cpu
