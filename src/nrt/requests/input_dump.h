// Files with the inputs of an execution that failed (NEURON_RT_DBG_DUMP_INPUTS_ON_ERR).
#pragma once

#include <cstdint>
#include <span>

#include "nrt/nrt_status.h"
#include "nrt/objects/model.h"
#include "queue/requests/run_control.h"
#include "runtime/jobs/job.h"

namespace millrace::nrt {

struct FailedExecution {
  const Model& model;
  // The bindings of Binding::inputs, or copies of their memory.
  std::span<const runtime::TensorBinding> inputs;
  uint64_t id = 0;  // as it stands in the name of the directory
  NRT_STATUS status = NRT_FAILURE;
};

// Writes each input to a file of its bytes, in a new directory of the working directory, and then
// the name of the model to the file "model_name.txt", so that a directory which has it is complete.
// Logs where they are, or why they are not there. Writes nothing more once the request is asked to
// stop, since the caller may then free the inputs. For the thread that runs the request.
void dump_inputs(const FailedExecution& failed, queue::RunControl& control) noexcept;

}  // namespace millrace::nrt
