// The extension module millrace._core: the native API as classes of Python.
//
// It links libmillrace only, so importing it loads neither oneDNN nor ONNX. No thread of Millrace
// calls Python: programs learn of completions by waiting, or by event fds.
#include <pybind11/pybind11.h>

#include "core/buffer.h"
#include "core/device.h"
#include "core/job.h"
#include "core/main_thread.h"
#include "core/model.h"
#include "core/numpy_api.h"
#include "core/raise.h"
#include "core/unit.h"

namespace millrace::python {
namespace {

// Python runs the initialisation of this module for the main interpreter; a later one gets a copy
// of its dict. So the package calls this function, too, whenever it is imported.
void require_main_interpreter() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw py::import_error(
        "millrace cannot be imported in a subinterpreter: its classes and the "
        "units that it closes at exit belong to the main interpreter");
}

}  // namespace
}  // namespace millrace::python

PYBIND11_MODULE(_core, module) {
  namespace python = millrace::python;
  python::require_main_interpreter();
  if (!python::import_numpy()) throw pybind11::error_already_set();
  module.doc() = "The native API of Millrace. Use the package millrace, which imports it.";
  module.attr("version") = MILLRACE_VERSION;
  python::track_main_thread();
  pybind11::module_::import("os").attr("register_at_fork")(
      pybind11::arg("after_in_child") = pybind11::cpp_function(&python::lose_units_in_child));
  python::define_buffer(module);
  python::define_device(module);
  python::define_unit(module);
  python::define_model(module);
  python::define_job(module);
  module.def("require_main_interpreter", &python::require_main_interpreter);
  module.def("set_error_classes", &python::set_error_classes, pybind11::arg("classes"));
  module.def("close_all_units", &python::close_all_units);
}
