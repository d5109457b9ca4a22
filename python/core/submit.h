// The calls that run jobs. Python calls these functions directly, since pybind11's dispatcher takes
// as long as a job of the null device.
#pragma once

#include <pybind11/pybind11.h>

namespace millrace::python {

namespace py = pybind11;

// Model.submit, Model.run and Unit.submit.
PyObject* submit_model(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* run_model(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* submit_to_unit(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);

// Gives the class Model its __call__.
void define_call(const py::handle& model_class);

}  // namespace millrace::python
