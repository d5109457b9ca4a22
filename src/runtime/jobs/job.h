// The types that describe a job: the tensors that it is bound to, its id and its callback. They are
// plain values, which runtime and the faces above it share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/device.h"
#include "memory/device_side.h"
#include "memory/host_access.h"
#include "millrace/execution.hpp"
#include "queue/callbacks/prepared_call.h"
#include "runtime/jobs/job_times.h"

namespace millrace::runtime {

// One boundary tensor of one frame of a job.
struct TensorBinding {
  void* data = nullptr;
  device::View view = device::View::kHw;
  std::shared_ptr<const void> owner;  // kept until the job is completed; may be empty
  // The device's own copy of the memory, on which the job works; null if there is none. `owner`
  // keeps it alive. For the HW view only.
  memory::DeviceSide* device_side = nullptr;
  // The job begins this access before it uses the memory, and ends it afterwards.
  memory::HostAccess access = {};
};

// Additional data for the binding of a tensor with open dimensions: the size of its memory in
// bytes, and its dimensions. For an input, `shape` holds the caller's dimensions. For an output,
// the job writes the dimensions to `shape` before its completion is visible; null if they are not
// wanted. For tensors without open dimensions, both are ignored.
struct OpenTensor {
  size_t bytes = 0;
  TensorShape* shape = nullptr;
};

// The tensors of a job. `inputs` and `outputs` hold frames * inputs-per-frame and
// frames * outputs-per-frame bindings, frame by frame, in the model's order.
// 1 <= frames <= batch size.
struct JobBindings {
  uint32_t frames = 1;
  std::span<const TensorBinding> inputs;
  std::span<const TensorBinding> outputs;
  std::shared_ptr<JobTimes> times = nullptr;  // written by the job; may be null
  // Written when the job completes, before that is visible; may be null.
  BoundaryConversions* conversions = nullptr;
  // One element for each binding if the model has open tensors (Executor::has_open_tensors), else
  // none. The dimensions of inputs are copied when the task is filled.
  std::span<const OpenTensor> open_inputs = {};
  std::span<const OpenTensor> open_outputs = {};
  // Written when the job completes, before that is visible; may be null.
  JobSpan* span = nullptr;
};

// The additional data for the tensors of one frame of a model with open tensors.
struct OpenTensors {
  std::span<const OpenTensor> inputs, outputs;
};

// The id of a job within its session, from 1; 0 is never issued. It has 32 bits because the VART
// face returns it to programs. The ids of the native API (millrace::JobId) are a different thing:
// they are the sequence ids of units, which are unique in the process.
using SessionJobId = uint32_t;

// The ids that a session issues: `first`, and from there on every `step`-th one. They wrap around
// to the smallest one above 0 that is congruent to `first`. Sessions whose ids must not be equal
// have a step of 2, which divides the range, and an odd and an even first one.
struct JobIds {
  SessionJobId first = 1;
  SessionJobId step = 1;  // 1 or 2
};

// Called once with the job's SessionJobId and its final status.
using JobCallback = queue::Notice;

}  // namespace millrace::runtime
