// The class Buffer: memory that host and device share.
#pragma once

#include <pybind11/pybind11.h>

#include "millrace/buffer.hpp"

namespace millrace::python {

namespace py = pybind11;

// Returns the buffer of an object of the class; null for any other object.
const Buffer* buffer_in(PyObject* object) noexcept;

void define_buffer(py::module_& module);

}  // namespace millrace::python
