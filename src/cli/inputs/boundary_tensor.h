// Helpers for boundary tensors: their description in a view, and their name as part of a file name.
// Thread-safe.
#pragma once

#include <string>

#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// Returns the description of a boundary tensor in `view`; that of the CPU view if it has no HW
// view.
const tensor::TensorDesc& desc_in(const graph::Boundary& boundary, device::View view);

// Returns a tensor's name as part of a file name: '/' becomes '-', a leading '/' is dropped, and
// characters that cannot be printed are escaped.
std::string file_name_part(std::string tensor_name);

}  // namespace millrace::cli
