#include "core/flight.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "core/numpy_api.h"
#include "core/raise.h"

namespace millrace::python {
namespace {

size_t bytes_of(const TensorShape& shape, size_t item_bytes) noexcept {
  size_t bytes = item_bytes;
  for (uint32_t i = 0; i < shape.rank; ++i) bytes *= shape.dims[i];
  return bytes;
}

// Calls `function`, and turns what it throws into a status.
template <class Function>
Status contained(const Function& function) {
  constexpr const char* kWhat = "the result cannot be made: ";
  try {
    function();
    return {};
  } catch (const py::error_already_set& error) {
    const bool no_memory = error.matches(PyExc_MemoryError);
    return {no_memory ? StatusCode::kOutOfMemory : StatusCode::kInternal,
            std::string(kWhat) + error.what()};
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, std::string(kWhat) + "there is no memory"};
  }
}

}  // namespace

JobArgs Flight::job_args() {
  const std::span<const TensorArg> all(args.data(), args.size());
  return {.inputs = all.first(input_args),
          .outputs = all.subspan(input_args),
          .frames = frames,
          .deadline = deadline,
          .strict_zero_copy = strict_zero_copy,
          .conversions = &conversions};
}

// Enlarges the memory of open outputs that were too small. Returns false if there are none: then
// the job failed for another reason. A job with open tensors has one frame.
bool Flight::grow_outputs() {
  bool grown = false;
  for (size_t i = 0; i < allocated.size(); ++i) {
    TensorArg& arg = args[input_args + i];
    if (!allocated[i] || arg.shape == nullptr) continue;
    const ViewPlan& view_plan = plan->outputs[i].cpu;
    const size_t bytes = bytes_of(*arg.shape, view_plan.item_bytes);
    if (bytes <= arg.bytes) continue;
    npy_intp elements = static_cast<npy_intp>(bytes / view_plan.item_bytes);
    outputs[i] = owned(PyArray_NewFromDescr(&PyArray_Type, view_plan.new_descr(), 1, &elements,
                                            nullptr, nullptr, 0, nullptr));
    arg.data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(outputs[i].ptr()));
    arg.bytes = bytes;
    plan->capacities[i] = std::max(plan->capacities[i], bytes);
    grown = true;
  }
  return grown;
}

// Returns the memory of an open output as an array of the shape that the job stated.
py::object Flight::shaped(size_t index) {
  const TensorShape& shape = *args[input_args + index].shape;
  Dimensions sizes(shape.dims.begin(), shape.dims.begin() + shape.rank);
  const ViewPlan& view_plan = plan->outputs[index].cpu;
  auto* const array = reinterpret_cast<PyArrayObject*>(outputs[index].ptr());
  if (allocated[index]) {
    PyArray_Dims dims{sizes.data(), static_cast<int>(sizes.size())};
    owned(PyArray_Resize(array, &dims, 0, NPY_CORDER));
    return outputs[index];
  }
  const py::object part = owned(PyArray_NewFromDescr(
      &PyArray_Type, view_plan.new_descr(), static_cast<int>(sizes.size()), sizes.data(), nullptr,
      args[input_args + index].data, NPY_ARRAY_CARRAY, nullptr));
  Py_INCREF(outputs[index].ptr());
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(part.ptr()), outputs[index].ptr()) < 0)
    throw py::error_already_set();
  return part;
}

py::object Flight::output_of(size_t index) {
  return plan->outputs[index].open ? shaped(index) : outputs[index];
}

py::object Flight::made_result() {
  if (by_name) {
    py::dict named;
    for (size_t i = 0; i < outputs.size() && selected.empty(); ++i)
      named[plan->outputs[i].key] = output_of(i);
    for (const size_t i : selected) named[plan->outputs[i].key] = output_of(i);
    return named;
  }
  if (outputs.size() == 1) return output_of(0);
  py::tuple all(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) all[i] = output_of(i);
  return all;
}

bool Flight::needs_another_run(const Status& run_status) {
  bool grown = false;
  Status outcome = run_status;
  if (run_status.code() == StatusCode::kInvalidArgument) {
    const Status growth = contained([&] { grown = grow_outputs(); });
    if (!growth.ok()) outcome = growth;
  }
  if (!grown) finish(outcome);
  return grown;
}

void Flight::finish(const Status& final_status) {
  Status outcome = final_status;
  py::object made = py::none();
  if (outcome.ok()) outcome = contained([&] { made = made_result(); });
  if (outcome.code() == StatusCode::kHung) {
    for (py::object& array : inputs) array.release();
    for (py::object& array : outputs) array.release();
  }
  // These are destroyed last: to free an array may run code that looks at this job.
  const auto old_inputs = std::move(inputs), old_outputs = std::move(outputs);
  const py::object old_model = std::move(model);
  inputs.clear();
  outputs.clear();
  args.clear();
  notified_fd = {};
  result = std::move(made);
  status = std::move(outcome);
  done = true;
}

void Flight::collect_unwanted() {
  if (done) return;
  if (job.wait(std::chrono::nanoseconds(0)).code() != StatusCode::kHung) return;
  for (py::object& array : inputs) array.release();
  for (py::object& array : outputs) array.release();
}

}  // namespace millrace::python
