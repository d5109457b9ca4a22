// The class Job: the handle of one submitted job.
//
// It is written against Python's C API, since making an instance of a pybind11 class takes as long
// as submitting a job may. All functions require the GIL; those that wait give it up.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "core/flight.h"

namespace millrace::python {

namespace py = pybind11;

// Returns a new Job for a flight that was submitted.
py::object job_for(std::unique_ptr<Flight> flight);

// Waits for the job and returns its result. Raises what the job or a signal handler raises.
py::object result_of(const py::object& job);

void define_job(py::module_& module);

}  // namespace millrace::python
