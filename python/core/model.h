// The class Model: an archive that is loaded on a device, and the units that run its jobs where the
// caller names none.
//
// All functions require the GIL, which also protects the members.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/unit.h"
#include "millrace/millrace.hpp"

namespace millrace::python {

namespace py = pybind11;

struct ModelBox {
  ModelBox(std::shared_ptr<Device> opened, Model loaded);

  // Returns a unit for a job: an idle one, or the one with the fewest jobs. There are as many as
  // the device has lanes, which are created when they are needed.
  const py::object& any_unit();

  // Returns whether Unit::execute may run a job on the calling thread. Signals are not noticed
  // meanwhile, so on the main thread jobs have to be short.
  bool runs_here(const UnitBox& unit) const;

  const std::shared_ptr<Device> device;
  const Model model;
  ModelPlan plan;
  // How long the last job took on the calling thread.
  std::chrono::nanoseconds last_run = std::chrono::nanoseconds::max();

 private:
  std::vector<py::object> units_;
};

void define_model(py::module_& module);

}  // namespace millrace::python
