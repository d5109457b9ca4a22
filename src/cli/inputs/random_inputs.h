// Makes inputs for commands that measure times and take no input files.
#pragma once

#include <vector>

#include "base/status.h"
#include "cli/inputs/job_buffers.h"
#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// Fills the inputs of every frame with values of a standard normal distribution, which are the same
// in every run of the program. With zeros or denormal values some kernels would be faster or slower
// than with real data.
Status fill_inputs(const std::vector<graph::Boundary>& inputs, device::View view,
                   const JobBuffers& buffers);

}  // namespace millrace::cli
