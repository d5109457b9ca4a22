// Helpers for boundary tensors: their description in a view, and their name as part of a file name.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// Returns the description of a boundary tensor in `view`; that of the CPU view if it has no HW
// view.
const tensor::TensorDesc& desc_in(const graph::Boundary& boundary, device::View view);

// Returns a tensor's name as part of a file name: '/' becomes '-', a leading '/' is dropped, and
// characters that cannot be printed are escaped.
std::string file_name_part(std::string tensor_name);

// Returns the names of the files that `run` writes, one for each output and all different:
// NAME.bin. Names that are equal as part of a file name get a number.
std::vector<std::string> output_file_names(const graph::CompiledModel& model);

}  // namespace millrace::cli
