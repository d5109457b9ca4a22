// Reading the keyword arguments of a job, and times.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>

#include "core/flight.h"

namespace millrace::python {

// Reads the keyword argument `name` of a job. TypeError for an unknown one.
void read_option(JobOptions& options, PyObject* name, PyObject* value);

// Returns the time that is `seconds` from now; kNoDeadline for null, None and times beyond the
// clock. Times in the past are now. TypeError, or ValueError for NaN.
Deadline deadline_after(PyObject* seconds);

// Returns a number of seconds as a duration; ValueError if it is negative or NaN.
std::chrono::nanoseconds duration_of(double seconds, const char* what);
std::optional<std::chrono::nanoseconds> duration_of(const std::optional<double>& seconds,
                                                    const char* what);

}  // namespace millrace::python
