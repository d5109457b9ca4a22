#include "core/bind.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/buffer.h"
#include "core/numpy_api.h"
#include "core/raise.h"

namespace millrace::python {
namespace {

// Usual numbers of tensors, up to which binding allocates nothing but the arrays.
using Objects = boost::container::small_vector<PyObject*, 4>;

// The memory of one tensor of a job: all of its frames.
struct Memory {
  std::byte* data = nullptr;
  size_t bytes = 0;
  bool writable = false;
  const Buffer* buffer = nullptr;  // not null if it is that of a Buffer
};

using Memories = boost::container::small_vector<Memory, 4>;

PyArrayObject* array_of(const py::object& object) noexcept {
  return reinterpret_cast<PyArrayObject*>(object.ptr());
}

std::span<const npy_intp> dims_of(PyArrayObject* array) noexcept {
  return {PyArray_DIMS(array), static_cast<size_t>(PyArray_NDIM(array))};
}

Memory memory_of(PyArrayObject* array) noexcept {
  return {.data = static_cast<std::byte*>(PyArray_DATA(array)),
          .bytes = static_cast<size_t>(PyArray_NBYTES(array)),
          .writable = PyArray_ISWRITEABLE(array) != 0};
}

// A dtype of another package, such as ml_dtypes.
bool is_bfloat16(PyArray_Descr* descr) noexcept {
  constexpr const char kName[] = "bfloat16";
  const char* const name = descr->typeobj->tp_name;
  const size_t length = std::strlen(name);
  return length >= sizeof(kName) - 1 &&
         std::strcmp(name + length - (sizeof(kName) - 1), kName) == 0;
}

bool has_type(PyArrayObject* array, const ViewPlan& view) noexcept {
  PyArray_Descr* const descr = PyArray_DESCR(array);
  if (descr == view.descr()) [[likely]]
    return true;
  return PyArray_EquivTypes(descr, view.descr()) != 0 ||
         (view.type == DataType::kBf16 && is_bfloat16(descr));
}

std::string dtype_text(PyArrayObject* array) {
  return py::str(py::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(array))));
}

[[noreturn]] void raise_about(const char* what, const TensorPlan& tensor, const std::string& text) {
  raise(invalid_argument(std::string(what) + " \"" + tensor.name + "\" " + text));
}

// Returns the number of frames that an array of this shape holds; 0 if the shape does not fit.
uint32_t frames_in(std::span<const npy_intp> shape, const ViewPlan& view) noexcept {
  if (view.any_rank) return shape.size() <= TensorShape::kMaxRank ? 1 : 0;
  const std::span<const npy_intp> wanted(view.shape.data(), view.shape.size());
  if (wanted.empty() && shape.size() == 1) return static_cast<uint32_t>(shape[0]);
  if (shape.size() != wanted.size()) return 0;
  if (shape.empty()) return 1;
  for (size_t i = 1; i < shape.size(); ++i)
    if (shape[i] != wanted[i] && wanted[i] >= 0) return 0;
  if (shape[0] == wanted[0] || wanted[0] < 0) return 1;
  return wanted[0] > 0 && shape[0] % wanted[0] == 0 ? static_cast<uint32_t>(shape[0] / wanted[0])
                                                    : 0;
}

// Returns why the array cannot be bound in place; null if it can.
const char* why_not_in_place(PyArrayObject* array, const ViewPlan& view) noexcept {
  if (!PyArray_ISNOTSWAPPED(array)) return "its byte order is not the machine's";
  if (!has_type(array, view)) return "its dtype differs";
  if (!PyArray_IS_C_CONTIGUOUS(array)) return "it is not contiguous in C order";
  if (!PyArray_ISALIGNED(array)) return "its memory is not aligned for its dtype";
  return nullptr;
}

py::object imported_by_dlpack(PyObject* object) {
  return py::module_::import("numpy").attr("from_dlpack")(py::handle(object));
}

// Returns the object as an array, of its own memory if it has any.
py::object as_array(PyObject* object, const ViewPlan& view, bool& made) {
  if (PyArray_Check(object)) return py::reinterpret_borrow<py::object>(object);
  if (PyObject_CheckBuffer(object)) {
    const py::object memory = owned(PyMemoryView_FromObject(object));
    return owned(PyArray_FromAny(memory.ptr(), nullptr, 0, 0, 0, nullptr));
  }
  if (PyObject_HasAttrString(object, "__dlpack__")) return imported_by_dlpack(object);
  made = true;
  return owned(PyArray_FromAny(object, view.new_descr(), 0, 0,
                               NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST, nullptr));
}

// Returns a copy in the view's dtype and C order.
py::object converted(const TensorPlan& tensor, const ViewPlan& view, const py::object& array) {
  if (view.type == DataType::kBf16 && is_bfloat16(PyArray_DESCR(array_of(array))))
    return converted(tensor, view, array.attr("view")("uint16"));
  if (!has_type(array_of(array), view) &&
      !PyArray_CanCastArrayTo(array_of(array), view.descr(), NPY_SAME_KIND_CASTING))
    raise_about("input", tensor,
                "takes " + std::string(to_string(view.type)) + " and is " +
                    dtype_text(array_of(array)) +
                    ", which NumPy does not convert within the same kind: convert it yourself");
  return owned(PyArray_FromArray(array_of(array), view.new_descr(),
                                 NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST));
}

[[noreturn]] void raise_shape(const char* what, const TensorPlan& tensor, const ViewPlan& view,
                              PyArrayObject* array, uint32_t batch_size) {
  std::string text = "has the shape " + text_of({view.shape.data(), view.shape.size()}) + ", not " +
                     text_of(dims_of(array));
  if (batch_size > 1)
    text += "; a job takes 1 to " + std::to_string(batch_size) +
            " frames, one after the other along the first dimension";
  raise_about(what, tensor, text);
}

// The binding of one job's tensors, in the order of the members.
class Binding {
 public:
  Binding(Flight& flight, ModelPlan& plan, const JobOptions& options)
      : flight_(flight), plan_(plan), options_(options) {
    flight.plan = &plan;
    flight.view = options.view;
    flight.deadline = options.deadline;
    flight.strict_zero_copy = options.strict_zero_copy;
    if (plan.open) flight.shapes.resize(plan.inputs.size() + plan.outputs.size());
  }

  void add_input(size_t index, PyObject* object) {
    const TensorPlan& tensor = plan_.inputs[index];
    const ViewPlan& view = tensor.in(options_.view);
    if (const Buffer* const buffer = buffer_in(object)) {
      if (tensor.open) raise_about("input", tensor, "has open dimensions: bind an array");
      add_buffer(tensor, view, *buffer, inputs_, "input");
      flight_.inputs.push_back(py::reinterpret_borrow<py::object>(object));
      return;
    }
    py::object array = in_place(tensor, view, object);
    add_frames(frames_in(dims_of(array_of(array)), view), "input", tensor, view, array);
    if (plan_.open) state_shape(index, array_of(array));
    inputs_.push_back(memory_of(array_of(array)));
    flight_.inputs.push_back(std::move(array));
  }

  void add_outputs() {
    // Code that compares names might change a list.
    const py::object fixed = options_.outputs != nullptr && PyList_Check(options_.outputs)
                                 ? owned(PyList_AsTuple(options_.outputs))
                                 : py::reinterpret_borrow<py::object>(options_.outputs);
    const Objects given = given_outputs(fixed.ptr());
    flight_.frames = std::max(frames_, 1U);
    // An array behind a Buffer may have stated more frames than the Buffer was checked for.
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].buffer != nullptr)
        require_frames(plan_.inputs[i], plan_.inputs[i].in(options_.view), *inputs_[i].buffer,
                       "input");
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      if (given[i] == nullptr)
        allocate_output(i);
      else
        add_output(i, given[i]);
    }
    fill_args();
  }

 private:
  py::object in_place(const TensorPlan& tensor, const ViewPlan& view, PyObject* object) {
    // This is the usual case: an array that can be bound as it is.
    if (PyArray_CheckExact(object) &&
        why_not_in_place(reinterpret_cast<PyArrayObject*>(object), view) == nullptr) [[likely]]
      return py::reinterpret_borrow<py::object>(object);
    bool made = false;
    py::object array = as_array(object, view, made);
    const char* const reason =
        made ? "it has no memory of its own" : why_not_in_place(array_of(array), view);
    if (reason == nullptr) return array;
    if (options_.strict_zero_copy)
      raise_about("input", tensor,
                  std::string("would be copied, since ") + reason + " (it is " +
                      dtype_text(array_of(array)) + ", the view is " +
                      std::string(to_string(view.type)) + "), and strict_zero_copy forbids that");
    flight_.copied.push_back(tensor.key);
    return made ? array : converted(tensor, view, array);
  }

  void add_frames(uint32_t frames, const char* what, const TensorPlan& tensor, const ViewPlan& view,
                  const py::object& array) {
    // The frames of a job share the shape and the memory of an open output, so it has one frame.
    const uint32_t most = plan_.open ? 1 : plan_.batch_size;
    const bool fits = frames >= 1 && frames <= most && (frames_ == 0 || frames == frames_);
    if (!fits) [[unlikely]]
      raise_shape(what, tensor, view, array_of(array), most);
    frames_ = frames;
  }

  void state_shape(size_t index, PyArrayObject* array) {
    TensorShape& shape = flight_.shapes[index];
    shape.rank = static_cast<uint32_t>(PyArray_NDIM(array));
    for (uint32_t i = 0; i < shape.rank; ++i)
      shape.dims[i] = static_cast<uint32_t>(PyArray_DIM(array, static_cast<int>(i)));
  }

  void require_frames(const TensorPlan& tensor, const ViewPlan& view, const Buffer& buffer,
                      const char* what) const {
    const size_t bytes = view.bytes * std::max(frames_, 1U);
    if (buffer.size() < bytes)
      raise_about(what, tensor,
                  "takes " + std::to_string(bytes) + " bytes, the buffer has " +
                      std::to_string(buffer.size()));
  }

  // Buffers hold as many frames as the arrays of the job have, or one.
  void add_buffer(const TensorPlan& tensor, const ViewPlan& view, const Buffer& buffer,
                  Memories& memories, const char* what) {
    require_frames(tensor, view, buffer, what);
    memories.push_back({buffer.data(), buffer.size(), buffer.writable(), &buffer});
  }

  // Returns an object or null for each output. `outputs` is a tuple, a dict, an object or null.
  Objects given_outputs(PyObject* outputs) {
    Objects given(plan_.outputs.size(), nullptr);
    if (outputs == nullptr || outputs == Py_None) [[likely]]
      return given;
    if (PyDict_Check(outputs)) {
      named_outputs(owned(PyDict_Copy(outputs)).ptr(), given);
    } else if (PyTuple_Check(outputs)) {
      listed_outputs(outputs, given);
    } else {
      if (given.size() != 1)
        raise(invalid_argument("outputs is one array, and the model has " +
                               std::to_string(given.size()) + ": " + names_of(plan_.outputs)));
      given[0] = outputs;
    }
    return given;
  }

  void named_outputs(PyObject* outputs, Objects& given) {
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(outputs, &at, &key, &value);)
      given[output_named(key)] = value == Py_None ? nullptr : value;
  }

  // A list of arrays or, for results by name, of names.
  void listed_outputs(PyObject* outputs, Objects& given) {
    const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(outputs));
    PyObject* const* const items = PySequence_Fast_ITEMS(outputs);
    if (flight_.by_name && count != 0 && PyUnicode_Check(items[0])) {
      for (size_t i = 0; i < count; ++i) flight_.selected.push_back(output_named(items[i]));
      return;
    }
    if (count != given.size())
      raise(invalid_argument("outputs has " + std::to_string(count) + " arrays, the model has " +
                             std::to_string(given.size()) + ": " + names_of(plan_.outputs)));
    for (size_t i = 0; i < count; ++i) given[i] = items[i] == Py_None ? nullptr : items[i];
  }

  size_t output_named(PyObject* key) {
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const int same = PyObject_RichCompareBool(key, plan_.outputs[i].key.ptr(), Py_EQ);
      if (same < 0) throw py::error_already_set();
      if (same == 1) return i;
    }
    raise(invalid_argument("the model has no output " + std::string(py::repr(py::handle(key))) +
                           "; its outputs are " + names_of(plan_.outputs)));
  }

  void allocate_output(size_t index) {
    const TensorPlan& tensor = plan_.outputs[index];
    const ViewPlan& view = tensor.in(options_.view);
    Dimensions shape;
    if (tensor.open)
      shape.push_back(static_cast<npy_intp>(plan_.capacities[index] / view.item_bytes));
    else
      shape = view.shape_of(flight_.frames);
    py::object array =
        owned(PyArray_NewFromDescr(&PyArray_Type, view.new_descr(), static_cast<int>(shape.size()),
                                   shape.data(), nullptr, nullptr, 0, nullptr));
    outputs_.push_back(memory_of(array_of(array)));
    flight_.outputs.push_back(std::move(array));
    if (plan_.open) flight_.allocated.push_back(tensor.open);
  }

  void add_output(size_t index, PyObject* object) {
    const TensorPlan& tensor = plan_.outputs[index];
    const ViewPlan& view = tensor.in(options_.view);
    if (const Buffer* const buffer = buffer_in(object))
      add_buffer(tensor, view, *buffer, outputs_, "output");
    else
      add_output_array(tensor, view, object);
    flight_.outputs.push_back(py::reinterpret_borrow<py::object>(object));
    if (plan_.open) flight_.allocated.push_back(false);
  }

  void add_output_array(const TensorPlan& tensor, const ViewPlan& view, PyObject* object) {
    if (!PyArray_Check(object))
      raise_about("output", tensor,
                  "must be bound to a numpy.ndarray or a millrace.Buffer, not " +
                      std::string(Py_TYPE(object)->tp_name));
    const auto array = py::reinterpret_borrow<py::object>(object);
    if (const char* const reason = why_not_in_place(array_of(array), view))
      raise_about("output", tensor,
                  std::string("cannot be written to the array, since ") + reason + " (it is " +
                      dtype_text(array_of(array)) + ", the view is " +
                      std::string(to_string(view.type)) + ")");
    if (!PyArray_ISWRITEABLE(array_of(array)))
      raise_about("output", tensor, "is bound to a read-only array");
    if (!tensor.open && frames_in(dims_of(array_of(array)), view) != flight_.frames)
      raise_shape("output", tensor, view, array_of(array), plan_.batch_size);
    outputs_.push_back(memory_of(array_of(array)));
  }

  // Divides the memory of each tensor into its frames.
  void fill_args() {
    flight_.input_args = flight_.frames * inputs_.size();
    for (uint32_t frame = 0; frame < flight_.frames; ++frame)
      for (size_t i = 0; i < inputs_.size(); ++i) add_arg(plan_.inputs[i], inputs_[i], frame, i);
    for (uint32_t frame = 0; frame < flight_.frames; ++frame)
      for (size_t i = 0; i < outputs_.size(); ++i)
        add_arg(plan_.outputs[i], outputs_[i], frame, inputs_.size() + i);
  }

  void add_arg(const TensorPlan& tensor, const Memory& memory, uint32_t frame, size_t shape_index) {
    const ViewPlan& view = tensor.in(options_.view);
    TensorArg& arg = flight_.args.emplace_back();
    arg.data = memory.data + frame * view.bytes;
    arg.bytes = tensor.open ? memory.bytes : view.bytes;
    arg.view = view.view;
    arg.writable = memory.writable;
    if (memory.buffer != nullptr) arg.owner = memory.buffer->owner();
    if (tensor.open) arg.shape = &flight_.shapes[shape_index];
  }

  Flight& flight_;
  ModelPlan& plan_;
  const JobOptions& options_;
  uint32_t frames_ = 0;  // 0 as long as no array has stated it
  Memories inputs_, outputs_;
};

[[noreturn]] void raise_count(const ModelPlan& plan, size_t count) {
  raise(invalid_argument("the model takes " + std::to_string(plan.inputs.size()) + " inputs (" +
                         names_of(plan.inputs) + "), got " + std::to_string(count)));
}

void bind_mapping(Flight& flight, ModelPlan& plan, PyObject* inputs, const JobOptions& options) {
  flight.by_name = true;
  boost::container::small_vector<py::object, 4> values;
  boost::container::small_vector<PyObject*, 4> borrowed;
  for (const TensorPlan& tensor : plan.inputs) {
    PyObject* const value = PyObject_GetItem(inputs, tensor.key.ptr());
    if (value == nullptr && !PyErr_ExceptionMatches(PyExc_KeyError)) throw py::error_already_set();
    if (value == nullptr) {
      PyErr_Clear();
      raise(invalid_argument("input \"" + tensor.name + "\" is missing"));
    }
    values.push_back(owned(value));
    borrowed.push_back(value);
  }
  const Py_ssize_t size = PyMapping_Size(inputs);
  if (size < 0) throw py::error_already_set();
  if (static_cast<size_t>(size) != plan.inputs.size())
    raise(invalid_argument("the inputs have names that the model has not; its inputs are " +
                           names_of(plan.inputs)));
  bind_positional(flight, plan, {borrowed.data(), borrowed.size()}, options);
}

bool is_mapping(PyObject* object) {
  if (PyDict_Check(object)) return true;
  if (PyArray_Check(object) || PyTuple_Check(object) || PyList_Check(object)) return false;
  return PyMapping_Check(object) != 0 && PyObject_HasAttrString(object, "keys") != 0;
}

}  // namespace

void bind_positional(Flight& flight, ModelPlan& plan, std::span<PyObject* const> inputs,
                     const JobOptions& options) {
  if (inputs.size() != plan.inputs.size()) raise_count(plan, inputs.size());
  Binding binding(flight, plan, options);
  for (size_t i = 0; i < inputs.size(); ++i) binding.add_input(i, inputs[i]);
  binding.add_outputs();
}

void bind(Flight& flight, ModelPlan& plan, PyObject* inputs, const JobOptions& options) {
  if (is_mapping(inputs)) return bind_mapping(flight, plan, inputs, options);
  if (!PyTuple_Check(inputs) && !PyList_Check(inputs))
    return bind_positional(flight, plan, {&inputs, 1}, options);
  // Code that converts an input might change a list.
  const py::object fixed = owned(PySequence_Tuple(inputs));
  bind_positional(flight, plan,
                  {PySequence_Fast_ITEMS(fixed.ptr()),
                   static_cast<size_t>(PySequence_Fast_GET_SIZE(fixed.ptr()))},
                  options);
}

}  // namespace millrace::python
