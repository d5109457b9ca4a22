// Statuses as Python exceptions, and the boundary at which C++ exceptions become Python's.
//
// All functions require the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <new>
#include <utility>

#include "millrace/status.hpp"

namespace millrace::python {

namespace py = pybind11;

// Sets the exception class of each status code; `classes` has the text of the code as its key.
// Codes that it lacks raise RuntimeError.
void set_error_classes(const py::dict& classes);

// Returns a new exception for the status, which must not be OK.
py::object exception_of(const Status& status);

// Raises the exception of the status, which must not be OK.
[[noreturn]] void raise(const Status& status);

inline void check(const Status& status) {
  if (!status.ok()) [[unlikely]]
    raise(status);
}

template <class T>
T take(Result<T> result) {
  if (!result.ok()) [[unlikely]]
    raise(result.status());
  return *std::move(result);
}

// Takes over a new reference that a function of Python's C API returned; raises if it is null.
inline py::object owned(PyObject* object) {
  if (object == nullptr) [[unlikely]]
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

// Calls `function`, which returns a py::object, in a function that Python calls directly. Returns a
// new reference, or null with a Python exception set.
template <class Function>
PyObject* guarded(Function&& function) {
  try {
    return function().release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace millrace::python
