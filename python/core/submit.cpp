#include "core/submit.h"

#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "core/bind.h"
#include "core/instance.h"
#include "core/job.h"
#include "core/model.h"
#include "core/options.h"
#include "core/raise.h"
#include "core/unit.h"

namespace millrace::python {
namespace {

using std::chrono::steady_clock;

// The arguments of a call by METH_FASTCALL: positional ones, then those that `names` names.
struct Call {
  PyObject* const* args;
  Py_ssize_t count;
  PyObject* names;
};

ModelBox& model_of(PyObject* self) noexcept {
  return *instance_of<ModelBox>(self);
}

void read_options(JobOptions& options, const Call& call) {
  const Py_ssize_t named = call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names);
  for (Py_ssize_t i = 0; i < named; ++i)
    read_option(options, PyTuple_GET_ITEM(call.names, i), call.args[call.count + i]);
}

// Returns the argument `inputs`, and reads `outputs` and the options.
PyObject* read_arguments(JobOptions& options, const Call& call, const char* name) {
  if (call.count < 1 || call.count > 2) {
    PyErr_Format(PyExc_TypeError,
                 "%s() takes the inputs and, optionally, the outputs; all else has names", name);
    throw py::error_already_set();
  }
  if (call.count == 2) options.outputs = call.args[1];
  read_options(options, call);
  return call.args[0];
}

// Returns the unit of the options or one of the model's own, by a new reference, since the caller
// may drop its own while another thread runs.
py::object unit_for(ModelBox& model, const JobOptions& options) {
  if (options.unit == nullptr || options.unit == Py_None) return model.any_unit();
  require_instance<UnitBox>(options.unit, "unit must be a millrace.Unit");
  return py::reinterpret_borrow<py::object>(options.unit);
}

py::object submit(PyObject* self, std::unique_ptr<Flight> flight, const JobOptions& options) {
  ModelBox& model = model_of(self);
  flight->unit = unit_for(model, options);
  flight->model = py::reinterpret_borrow<py::object>(self);
  instance_of<UnitBox>(flight->unit.ptr())->submit(model.model, *flight);
  return job_for(std::move(flight));
}

// Runs a job on the calling thread, again for as long as its open outputs are too small.
py::object execute(ModelBox& model, UnitBox& unit, Flight& flight) {
  Status status;
  do {
    const auto begin = steady_clock::now();
    status = unit.execute(model.model, flight);
    model.last_run = steady_clock::now() - begin;
  } while (flight.needs_another_run(status));
  check(flight.status);
  return std::move(flight.result);
}

// Waits for a job. If a signal handler raises an exception, nobody will see the job any more, so it
// is cancelled; a job that failed has ended already.
py::object wait_for(const py::object& job) {
  try {
    return result_of(job);
  } catch (const py::error_already_set&) {
    job.attr("cancel")();
    throw;
  }
}

// `bind_to` binds the arguments to a flight.
template <class Bind>
py::object run(PyObject* self, const JobOptions& options, const Bind& bind_to) {
  ModelBox& model = model_of(self);
  const py::object unit = unit_for(model, options);
  if (UnitBox& box = *instance_of<UnitBox>(unit.ptr()); model.runs_here(box)) [[likely]] {
    Flight flight;
    bind_to(flight);
    return execute(model, box, flight);
  }
  const auto begin = steady_clock::now();
  auto flight = std::make_unique<Flight>();
  bind_to(*flight);
  JobOptions on_unit = options;
  on_unit.unit = unit.ptr();
  py::object result = wait_for(submit(self, std::move(flight), on_unit));
  model.last_run = steady_clock::now() - begin;
  return result;
}

py::object call_model(PyObject* self, PyObject* args, PyObject* keywords) {
  JobOptions options;
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; keywords != nullptr && PyDict_Next(keywords, &at, &name, &value);)
    read_option(options, name, value);
  const std::span<PyObject* const> inputs(PySequence_Fast_ITEMS(args),
                                          static_cast<size_t>(PyTuple_GET_SIZE(args)));
  return run(self, options, [&](Flight& flight) {
    bind_positional(flight, model_of(self).plan, inputs, options);
  });
}

}  // namespace

PyObject* submit_model(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    JobOptions options;
    PyObject* const inputs = read_arguments(options, {args, count, names}, "submit");
    auto flight = std::make_unique<Flight>();
    bind(*flight, model_of(self).plan, inputs, options);
    return submit(self, std::move(flight), options);
  });
}

PyObject* run_model(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    JobOptions options;
    PyObject* const inputs = read_arguments(options, {args, count, names}, "run");
    if (PyMapping_Check(inputs) == 0 || PyObject_HasAttrString(inputs, "keys") == 0) {
      PyErr_SetString(PyExc_TypeError,
                      "run() takes a mapping of names to arrays; model(x) an array");
      throw py::error_already_set();
    }
    return run(self, options,
               [&](Flight& flight) { bind(flight, model_of(self).plan, inputs, options); });
  });
}

PyObject* submit_to_unit(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    if (count < 1) {
      PyErr_SetString(PyExc_TypeError, "submit() takes a model and its inputs");
      throw py::error_already_set();
    }
    ModelBox& model = require_instance<ModelBox>(args[0], "submit() takes a millrace.Model first");
    JobOptions options;
    PyObject* const inputs = read_arguments(options, {args + 1, count - 1, names}, "submit");
    options.unit = self;
    auto flight = std::make_unique<Flight>();
    bind(*flight, model.plan, inputs, options);
    return submit(args[0], std::move(flight), options);
  });
}

namespace {

PyObject* call_slot(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&] { return call_model(self, args, keywords); });
}

}  // namespace

// A __call__ in the class's dict would be found by a look-up in each call.
void define_call(const py::handle& model_class) {
  reinterpret_cast<PyTypeObject*>(model_class.ptr())->tp_call = &call_slot;
}

}  // namespace millrace::python
