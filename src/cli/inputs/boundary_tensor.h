// Boundary tensors as the commands need them: their description in a view, and their name as part
// of a file name.
#pragma once

#include <string>

#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// The description of a boundary tensor in `view`; the CPU view where there is no other.
const tensor::TensorDesc& desc_in(const graph::Boundary& boundary, device::View view);

// Returns a tensor's name as part of a file name: '/' becomes '-', a leading '/' is dropped, and
// characters that cannot be printed are escaped.
std::string file_name_part(std::string tensor_name);

}  // namespace millrace::cli
