// The class Device.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "millrace/device.hpp"

namespace millrace::python {

namespace py = pybind11;

// Opens a device without the GIL.
std::shared_ptr<Device> open_device(const std::string& name, uint32_t lanes);

// Returns the device that a Device, a Model or the name of a device stands for.
std::shared_ptr<Device> device_of(const py::object& object);

// Returns whether jobs of the device may hang on the calling thread, since faults are injected.
bool is_faulty(const Device& device) noexcept;

void define_device(py::module_& module);

}  // namespace millrace::python
