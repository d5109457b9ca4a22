// Inputs for commands that measure and are given none.
#pragma once

#include <vector>

#include "base/status.h"
#include "cli/inputs/job_buffers.h"
#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// Fills the inputs of every frame with normally distributed values, the same in every run of the
// program: zeros or denormals would make some kernels faster or slower than real data does.
Status fill_inputs(const std::vector<graph::Boundary>& inputs, device::View view,
                   const JobBuffers& buffers);

}  // namespace millrace::cli
