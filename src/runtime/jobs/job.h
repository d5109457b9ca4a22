// The terms of a job: what it is given, by which id it is known, and how its end is reported.
// Values only, which everything in runtime and the faces above it share.
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
  // The device's own copy of the memory, if there is one (kept by `owner`): the job works on that.
  // For the HW view only.
  memory::DeviceSide* device_side = nullptr;
  // Begun before the job accesses the memory, and ended after it.
  memory::HostAccess access = {};
};

// Additional data for the binding of a tensor with open dimensions: the size of its memory, and its
// dimensions. The caller states those of an input. The job writes those of an output to `shape`
// before its completion is visible; null if they are not wanted. Other tensors of such a model have
// no dimensions here.
struct OpenTensor {
  size_t bytes = 0;
  TensorShape* shape = nullptr;
};

// The tensors of a job, frame after frame: frames * inputs-per-frame and frames * outputs-per-frame
// bindings, in the model's order. 1 <= frames <= batch size.
struct JobBindings {
  uint32_t frames = 1;
  std::span<const TensorBinding> inputs;
  std::span<const TensorBinding> outputs;
  std::shared_ptr<JobTimes> times = nullptr;  // written by the job, unless null
  // Written when the job completes, before that is visible; null: not wanted.
  BoundaryConversions* conversions = nullptr;
  // One for each binding where the model has open tensors (Executor::has_open_tensors), else none.
  // The dimensions of inputs are copied when the job is filled.
  std::span<const OpenTensor> open_inputs = {};
  std::span<const OpenTensor> open_outputs = {};
};

// Additional data for the open tensors of one frame, besides their bindings.
struct OpenTensors {
  std::span<const OpenTensor> inputs, outputs;
};

// The id of a job within its session, from 1; 0 is never issued. It has 32 bits because the VART
// face returns it to programs. The ids of the native API, millrace::JobId, are unique in the
// process: they are the sequence ids of units.
using SessionJobId = uint32_t;

// Called once with the job's SessionJobId and its final status.
using JobCallback = queue::Notice;

}  // namespace millrace::runtime
