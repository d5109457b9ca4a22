// Reaching the C++ object of an instance of a pybind11 class without pybind11's dispatcher, which
// takes longer than a call on the null device may.
#pragma once

#include <pybind11/pybind11.h>

#include "core/raise.h"

namespace millrace::python {

namespace py = pybind11;

// The class of T. Classes live as long as the process.
template <class T>
inline PyTypeObject* class_of_type = nullptr;

// Returns the C++ object; null if `object` is no instance of the class, or was not initialised.
template <class T>
T* instance_of(PyObject* object) noexcept {
  if (!PyObject_TypeCheck(object, class_of_type<T>)) return nullptr;
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  void* const value = instance->simple_layout ? instance->simple_value_holder[0]
                                              : instance->get_value_and_holder().value_ptr();
  return static_cast<T*>(value);
}

// Like instance_of(), but raises TypeError instead of returning null.
template <class T>
T& require_instance(PyObject* object, const char* what) {
  if (T* const found = instance_of<T>(object)) [[likely]]
    return *found;
  PyErr_Format(PyExc_TypeError, "%s, not %s", what, Py_TYPE(object)->tp_name);
  throw py::error_already_set();
}

template <class T, class Class>
void remember_class(const Class& defined) {
  class_of_type<T> = reinterpret_cast<PyTypeObject*>(defined.ptr());
}

// The form of the functions that Python calls directly, with positional and named arguments in one
// array.
inline constexpr int kFastCall = METH_FASTCALL | METH_KEYWORDS;

// Python stores functions of all forms as pointers of one type.
template <class Function>
PyCFunction as_method(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// Adds a method that Python calls directly. `definition` must live as long as the
// process.
inline void add_method(const py::handle& defined, PyMethodDef& definition) {
  const py::object method =
      owned(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(defined.ptr()), &definition));
  py::setattr(defined, definition.ml_name, method);
}

}  // namespace millrace::python
