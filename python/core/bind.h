// Binding Python objects to the tensors of a job.
//
// An array is bound in place if it has the dtype of the view, its shape, C order and the alignment
// of its dtype. Inputs that lack only the order, the alignment or the machine's byte order are
// copied, unless the job is strict, and so are numbers and lists of numbers whose values the dtype
// holds. All else is refused. All functions require the GIL and raise Python exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <span>

#include "core/flight.h"
#include "core/plan.h"

namespace millrace::python {

// Binds one object for each input, in the model's order, and allocates or binds the outputs.
void bind_positional(Flight& flight, ModelPlan& plan, std::span<PyObject* const> inputs,
                     const JobOptions& options);

// Binds `inputs`: a mapping of names to arrays, a tuple or list of arrays, or the array of a model
// with one input.
void bind(Flight& flight, ModelPlan& plan, PyObject* inputs, const JobOptions& options);

}  // namespace millrace::python
