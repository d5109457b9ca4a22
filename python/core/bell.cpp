#include "core/bell.h"

#include <Python.h>
#include <pybind11/pybind11.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace millrace::python {

int bell() {
  static int descriptor = -1;
  if (descriptor < 0) descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor >= 0) return descriptor;
  PyErr_SetFromErrno(PyExc_OSError);
  throw pybind11::error_already_set();
}

void ring_bell() {
  const uint64_t one = 1;
  if (::write(bell(), &one, sizeof one) == sizeof one) return;
  PyErr_SetFromErrno(PyExc_OSError);
  throw pybind11::error_already_set();
}

}  // namespace millrace::python
