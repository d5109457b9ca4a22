// NumPy's C API. numpy_api.cpp imports it for the whole module; every other source only uses it.
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_20_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL millrace_numpy_api
#ifndef MILLRACE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace millrace::python {

// Imports NumPy. Returns false, with a Python exception set, if it cannot be imported.
bool import_numpy();

}  // namespace millrace::python
