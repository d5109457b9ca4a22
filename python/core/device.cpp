#include "core/device.h"

#include <utility>

#include "core/instance.h"
#include "core/model.h"
#include "core/raise.h"
#include "core/without_gil.h"

namespace millrace::python {

std::shared_ptr<Device> open_device(const std::string& name, uint32_t lanes) {
  Result<Device> opened = without_gil([&] { return Device::open(name, {.lanes = lanes}); });
  return std::make_shared<Device>(take(std::move(opened)));
}

std::shared_ptr<Device> device_of(const py::object& object) {
  if (const ModelBox* const model = instance_of<ModelBox>(object.ptr())) return model->device;
  if (instance_of<Device>(object.ptr()) != nullptr)
    return py::cast<std::shared_ptr<Device>>(object);
  if (py::isinstance<py::str>(object)) return open_device(py::cast<std::string>(object), 0);
  PyErr_Format(PyExc_TypeError, "a device is a millrace.Device, a Model or a name, not %s",
               Py_TYPE(object.ptr())->tp_name);
  throw py::error_already_set();
}

bool is_faulty(const Device& device) noexcept {
  return device.name().starts_with("faulty");
}

void define_device(py::module_& module) {
  py::class_<Device, std::shared_ptr<Device>> defined(
      module, "Device", "What computes: opened by name, and shared by all who open that name.");
  remember_class<Device>(defined);
  defined
      .def(
          py::init(&open_device), py::arg("name") = "cpu", py::arg("lanes") = 0,
          "Opens \"cpu\", \"null\", \"faulty-cpu\", \"faulty-null\" or the plugin of that name.\n\n"
          "`lanes` is the number of threads that run jobs; 0 means MILLRACE_LANES or one for each\n"
          "core. NotFound if there is no such device.")
      .def_property_readonly("name", &Device::name)
      .def_property_readonly("description", &Device::description, "The backend and its version.")
      .def_property_readonly("lanes", &Device::lanes, "The number of threads that run jobs.")
      .def("__repr__",
           [](const Device& self) { return "<millrace.Device \"" + self.name() + "\">"; });
}

}  // namespace millrace::python
