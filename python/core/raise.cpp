#include "core/raise.h"

#include <array>
#include <cstddef>
#include <string>

namespace millrace::python {
namespace {

constexpr std::array kCodes = {
#define MILLRACE_X(enumerator, text, meaning) StatusCode::enumerator,
    MILLRACE_STATUS_CODES(MILLRACE_X)
#undef MILLRACE_X
};

// The classes live as long as the process, since errors may be raised while the interpreter ends.
std::array<PyObject*, kCodes.size()> error_classes = {};

PyObject* class_of(StatusCode code) noexcept {
  PyObject* const found = error_classes[static_cast<size_t>(code)];
  return found != nullptr ? found : PyExc_RuntimeError;
}

// Messages may quote bytes of files that are not UTF-8.
py::object decoded(const std::string& message) {
  return owned(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()),
                                    "backslashreplace"));
}

}  // namespace

void set_error_classes(const py::dict& classes) {
  for (const StatusCode code : kCodes) {
    const py::str key(std::string(to_string(code)));
    if (classes.contains(key))
      error_classes[static_cast<size_t>(code)] = py::object(classes[key]).release().ptr();
  }
}

py::object exception_of(const Status& status) {
  return py::handle(class_of(status.code()))(decoded(status.message()));
}

void raise(const Status& status) {
  const py::object exception = exception_of(status);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

}  // namespace millrace::python
