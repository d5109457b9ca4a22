#include "core/model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/device.h"
#include "core/instance.h"
#include "core/raise.h"
#include "core/submit.h"
#include "core/without_gil.h"

namespace millrace::python {
namespace {

// The depth of the units that a model makes for itself: enough for a lane that is never idle, and a
// bound of the memory of jobs that are submitted faster than they run.
constexpr uint32_t kDepth = 64;

// Jobs that take longer do not run on the main thread, so that Ctrl-C stops the wait for them.
constexpr std::chrono::milliseconds kLongestUninterrupted(20);

py::object make_unit_of(const ModelBox& model) {
  UnitOptions options;
  options.name = model.model.name();
  options.depth = kDepth;
  options.when_full = WhenFull::kBlock;
  options.auto_reset = true;
  return py::cast(std::make_shared<UnitBox>(model.device, std::move(options)));
}

}  // namespace

ModelBox::ModelBox(std::shared_ptr<Device> opened, Model loaded)
    : device(std::move(opened)), model(std::move(loaded)), plan(model) {}

const py::object& ModelBox::any_unit() {
  const auto load = [](const py::object& unit) { return instance_of<UnitBox>(unit.ptr())->load(); };
  const auto best = std::ranges::min_element(units_, {}, load);
  if (best != units_.end() && (load(*best) == 0 || units_.size() >= device->lanes())) return *best;
  units_.push_back(make_unit_of(*this));
  return units_.back();
}

// Unit::execute waits behind other jobs and for a place, whatever the unit's policy, and notices no
// signals.
bool ModelBox::runs_here(const UnitBox& unit) const {
  return unit.load() == 0 && !unit.may_hang() &&
         (last_run < kLongestUninterrupted || !is_main_thread());
}

namespace {

py::object shape_tuple(const ViewInfo& view) {
  if (view.is_open && view.shape.empty()) return py::none();
  py::tuple shape(view.shape.size());
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == kOpenDimension)
      shape[i] = py::none();
    else
      shape[i] = py::int_(view.shape[i]);
  }
  return shape;
}

py::object hw_of(const TensorInfo& tensor) {
  return tensor.hw ? py::cast(*tensor.hw) : py::object(py::none());
}

std::string repr_of(const ViewInfo& view) {
  return std::string(to_string(view.type)) + " " +
         py::cast<std::string>(py::repr(shape_tuple(view))) + " " +
         std::string(to_string(view.layout));
}

py::tuple tensors_of(std::span<const TensorInfo> infos) {
  py::tuple tensors(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) tensors[i] = infos[i];
  return tensors;
}

std::shared_ptr<ModelBox> load(const std::string& path, const py::object& device,
                               const std::string& shape_profile, uint64_t memory_limit,
                               uint32_t lanes) {
  std::shared_ptr<Device> opened = py::isinstance<py::str>(device)
                                       ? open_device(py::cast<std::string>(device), lanes)
                                       : device_of(device);
  Result<Model> model = without_gil([&] {
    return opened->load(path, {.memory_limit = memory_limit, .shape_profile = shape_profile});
  });
  return std::make_shared<ModelBox>(std::move(opened), take(std::move(model)));
}

void define_tensors(py::module_& module) {
  py::class_<ViewInfo>(module, "ViewInfo", "One view of one frame of a tensor.")
      .def_property_readonly(
          "dtype", [](const ViewInfo& self) { return dtype_of(self.type); },
          "NumPy's dtype. BF16 has none: its bits are uint16.")
      .def_property_readonly(
          "data_type", [](const ViewInfo& self) { return std::string(to_string(self.type)); },
          "The type as Millrace names it, such as \"FLOAT32\" or \"BF16\".")
      .def_property_readonly(
          "layout", [](const ViewInfo& self) { return std::string(to_string(self.layout)); },
          "The layout, such as \"NCHW\" or \"HCWNC4\" (docs/layouts.md).")
      .def_property_readonly("shape", &shape_tuple,
                             "The dimensions, None for open ones; None if the rank is open, too.")
      .def_property_readonly(
          "bytes", [](const ViewInfo& self) { return self.bytes; },
          "The size of a frame; 0 if a dimension is open.")
      .def("__repr__", [](const ViewInfo& self) { return "<" + repr_of(self) + ">"; });
  py::class_<TensorInfo>(module, "TensorInfo", "An input or output of a model.")
      .def_property_readonly("name", [](const TensorInfo& self) { return self.name; })
      .def_property_readonly(
          "dtype", [](const TensorInfo& self) { return dtype_of(self.cpu.type); },
          "NumPy's dtype of the CPU view.")
      .def_property_readonly(
          "shape", [](const TensorInfo& self) { return shape_tuple(self.cpu); },
          "The dimensions of the CPU view of one frame, None for open ones.")
      .def_property_readonly(
          "cpu", [](const TensorInfo& self) { return self.cpu; },
          "The view that the model declares.")
      .def_property_readonly("hw", &hw_of, "The native view of the device, or None.")
      .def_property_readonly(
          "scale", [](const TensorInfo& self) { return self.scale; },
          "real = (stored - zero_point) * scale, in the HW view.")
      .def_property_readonly("zero_point", [](const TensorInfo& self) { return self.zero_point; })
      .def("__repr__", [](const TensorInfo& self) {
        return "<\"" + self.name + "\": " + repr_of(self.cpu) + ">";
      });
}

PyMethodDef model_submit = {
    "submit", as_method(&submit_model), kFastCall,
    "submit($self, inputs, outputs=None, *, unit=None, deadline=None, deadline_at=None,\n"
    "       strict_zero_copy=False, view='cpu')\n--\n\n"
    "Submits a job and returns its Job, without waiting for it.\n\n"
    "inputs            a mapping of names to arrays, a tuple or list of arrays in the model's\n"
    "                  order, or the array of the only input\n"
    "outputs           arrays to write to, in the same forms; those that are missing or None are\n"
    "                  allocated\n"
    "unit              the Unit that runs the job; None: one of the model's own, which run up to\n"
    "                  one job for each lane at a time, in any order, and block where 64 are in\n"
    "                  flight on each\n"
    "deadline          seconds from now after which the job fails with DeadlineExceeded\n"
    "deadline_at       the same as a point of time.monotonic()\n"
    "strict_zero_copy  refuse a job that would copy or convert a tensor\n"
    "view              \"cpu\": the tensors as the model declares them; \"hw\": in the device's\n"
    "                  type and layout\n\n"
    "The arrays must not be changed, and outputs not be read, before the job has ended. Raises\n"
    "InvalidArgument, QueueFull, DeadlineExceeded, UnitDegraded or Closed; then nothing has\n"
    "changed."};

PyMethodDef model_run = {
    "run", as_method(&run_model), kFastCall,
    "run($self, inputs, outputs=None, *, unit=None, deadline=None, deadline_at=None,\n"
    "    strict_zero_copy=False, view='cpu')\n--\n\n"
    "Runs a job and returns its outputs as a dict. `inputs` is a mapping of names to arrays.\n"
    "`outputs` may also be a list of the names that are wanted. The other arguments and the "
    "errors\n"
    "are those of submit(), and what the job itself raises."};

}  // namespace

void define_model(py::module_& module) {
  define_tensors(module);
  py::class_<ModelBox, std::shared_ptr<ModelBox>> defined(
      module, "Model",
      "A model that is loaded on a device. Any thread may use it.\n\n"
      "model(x, y) runs a job on one array for each input and returns its output, or a tuple of\n"
      "them. The keyword arguments are those of submit().");
  remember_class<ModelBox>(defined);
  defined.def_property_readonly("name", [](const ModelBox& self) { return self.model.name(); })
      .def_property_readonly(
          "batch_size", [](const ModelBox& self) { return self.model.batch_size(); },
          "The most frames that a job takes.")
      .def_property_readonly("inputs",
                             [](const ModelBox& self) { return tensors_of(self.model.inputs()); })
      .def_property_readonly("outputs",
                             [](const ModelBox& self) { return tensors_of(self.model.outputs()); })
      .def_property_readonly(
          "note", [](const ModelBox& self) { return self.model.note(); },
          "Why the device does not compute as the archive states, or \"\".")
      .def_property_readonly("device", [](const ModelBox& self) { return self.device; })
      .def("__repr__", [](const ModelBox& self) {
        return "<millrace.Model \"" + self.model.name() + "\" on \"" + self.device->name() + "\">";
      });
  add_method(defined, model_submit);
  add_method(defined, model_run);
  define_call(defined);
  module.def("load", &load, py::arg("path"), py::arg("device"), py::arg("shape_profile"),
             py::arg("memory_limit"), py::arg("lanes"));
}

}  // namespace millrace::python
