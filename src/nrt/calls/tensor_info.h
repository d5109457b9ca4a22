// What a program is told about a model's tensors: one block of memory, shapes included.
#pragma once

#include "nrt/nrt.h"
#include "nrt/objects/model.h"

namespace millrace::nrt {

// Inputs first. Names that are too long are cut. Throws bad_alloc.
nrt_tensor_info_array_t* make_tensor_info(const Model& model);
// Null is fine. Does not need the model, nor the runtime.
void free_tensor_info(nrt_tensor_info_array_t* info) noexcept;

}  // namespace millrace::nrt
