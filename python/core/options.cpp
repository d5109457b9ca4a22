#include "core/options.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/raise.h"

namespace millrace::python {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Longer times than that, about a century, are taken as no limit.
constexpr double kForever = 3e9;

double number_of(PyObject* object, const char* what) {
  const double number = PyFloat_AsDouble(object);
  if (number == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (std::isnan(number))
    raise(invalid_argument(std::string(what) + " is not a number of seconds"));
  return number;
}

nanoseconds from_seconds(double seconds) {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
}

// Python's time.monotonic() and the steady clock are the same clock of Linux.
Deadline deadline_at(PyObject* time) {
  if (time == Py_None) return kNoDeadline;
  const double seconds = number_of(time, "deadline_at");
  if (seconds > kForever) return kNoDeadline;
  return Deadline(from_seconds(std::max(seconds, 0.0)));
}

View view_named(PyObject* value) {
  if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "cpu") == 0)
    return View::kCpu;
  if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "hw") == 0)
    return View::kHw;
  raise(invalid_argument("view is " + std::string(py::repr(py::handle(value))) +
                         ", not \"cpu\" or \"hw\""));
}

}  // namespace

Deadline deadline_after(PyObject* seconds) {
  if (seconds == nullptr || seconds == Py_None) return kNoDeadline;
  const double number = number_of(seconds, "a time");
  if (number > kForever) return kNoDeadline;
  return steady_clock::now() + from_seconds(std::max(number, 0.0));
}

nanoseconds duration_of(double seconds, const char* what) {
  if (std::isnan(seconds) || seconds < 0)
    raise(invalid_argument(std::string(what) + " must be a number of seconds from 0 on"));
  return seconds > kForever ? nanoseconds::max() : from_seconds(seconds);
}

std::optional<nanoseconds> duration_of(const std::optional<double>& seconds, const char* what) {
  if (!seconds) return std::nullopt;
  return duration_of(*seconds, what);
}

void read_option(JobOptions& options, PyObject* name, PyObject* value) {
  const auto is = [name](const char* known) {
    return PyUnicode_CompareWithASCIIString(name, known) == 0;
  };
  if (is("outputs")) {
    options.outputs = value;
  } else if (is("unit")) {
    options.unit = value;
  } else if (is("deadline")) {
    options.deadline = std::min(options.deadline, deadline_after(value));
  } else if (is("deadline_at")) {
    options.deadline = std::min(options.deadline, deadline_at(value));
  } else if (is("view")) {
    options.view = view_named(value);
  } else if (is("strict_zero_copy")) {
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) throw py::error_already_set();
    options.strict_zero_copy = truth != 0;
  } else {
    PyErr_Format(
        PyExc_TypeError,
        "unexpected keyword argument '%U'; there are outputs, unit, deadline, deadline_at, "
        "strict_zero_copy and view, and inputs by name are given as run({name: array})",
        name);
    throw py::error_already_set();
  }
}

}  // namespace millrace::python
