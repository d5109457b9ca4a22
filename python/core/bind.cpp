#include "core/bind.h"

#include <algorithm>
#include <cstring>
#include <optional>
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

// Whether the array has the dtype of the view, in any byte order.
bool has_type(PyArrayObject* array, const ViewPlan& view) noexcept {
  PyArray_Descr* const descr = PyArray_DESCR(array);
  if (descr == view.descr()) [[likely]]
    return true;
  return PyArray_CanCastTypeTo(descr, view.descr(), NPY_EQUIV_CASTING) != 0 ||
         (view.type == DataType::kBf16 && is_bfloat16(descr));
}

std::string dtype_text(PyArrayObject* array) {
  return py::str(py::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(array))));
}

// Returns a key that is the name of no tensor as text, with the name that was probably meant.
std::string unknown_name(const py::handle& key, const std::vector<TensorPlan>& tensors) {
  std::string text = py::repr(key);
  if (!py::isinstance<py::str>(key)) return text;
  py::list names;
  for (const TensorPlan& tensor : tensors) names.append(tensor.key);
  const py::list close =
      py::module_::import("difflib").attr("get_close_matches")(key, names, py::int_(1));
  if (!close.empty()) text += " (did you mean \"" + std::string(py::str(close[0])) + "\"?)";
  return text;
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

// Returns the object as an array, over its own memory if that is possible; nothing if it is a
// number, a list or the like. A scalar of NumPy is a number to its users, although it has a dtype.
std::optional<py::object> array_in(PyObject* object) {
  if (PyArray_Check(object)) return py::reinterpret_borrow<py::object>(object);
  if (PyArray_CheckScalar(object)) return std::nullopt;
  if (PyObject_CheckBuffer(object)) {
    const py::object memory = owned(PyMemoryView_FromObject(object));
    return owned(PyArray_FromAny(memory.ptr(), nullptr, 0, 0, 0, nullptr));
  }
  if (PyObject_HasAttrString(object, "__dlpack__")) return imported_by_dlpack(object);
  if (PyObject_HasAttrString(object, "__array_interface__") ||
      PyObject_HasAttrString(object, "__array__"))
    return owned(PyArray_FromAny(object, nullptr, 0, 0, 0, nullptr));
  return std::nullopt;
}

// Returns the dtype that arrays of the view have, as text.
std::string wanted_text(const ViewPlan& view) {
  std::string text = py::str(view.dtype);
  if (view.type == DataType::kBf16) text += " (the bits of BF16)";
  return text;
}

// Returns a copy of the elements in the view's dtype and C order.
py::object copied(const py::object& array, const ViewPlan& view) {
  return owned(PyArray_FromArray(array_of(array), view.new_descr(),
                                 NPY_ARRAY_CARRAY | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST));
}

// Returns the numbers of a list, or a number, as an array of the dtype that NumPy gives them.
py::object natural_array(const TensorPlan& tensor, PyObject* object) {
  PyObject* const array = PyArray_FromAny(object, nullptr, 0, 0, 0, nullptr);
  if (array != nullptr) return owned(array);
  py::error_already_set error;
  if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw error;
  raise_about("input", tensor,
              "cannot be made of the " + std::string(Py_TYPE(object)->tp_name) + ": " +
                  std::string(py::str(error.value())));
}

// Integers are converted to any type of integers that holds them, although NumPy calls some of
// these conversions unsafe: those of a list have no type of their own.
void require_range(const TensorPlan& tensor, const ViewPlan& view, const py::object& array) {
  const py::object info = py::module_::import("numpy").attr("iinfo")(view.dtype);
  const py::object least = info.attr("min"), most = info.attr("max");
  for (const char* const extreme : {"min", "max"}) {
    const py::object value = py::int_(array.attr(extreme)());
    if (value < least || value > most)
      raise_about("input", tensor,
                  "takes " + wanted_text(view) + ", which does not hold the " +
                      std::string(py::str(value)) + " of the list");
  }
}

// Returns the numbers of a list, or a number, as an array that can be bound. Raises InvalidArgument
// if they would change, except that they are rounded to a narrower floating-point type.
py::object array_of_numbers(const TensorPlan& tensor, const ViewPlan& view, PyObject* object) {
  const py::object array = natural_array(tensor, object);
  PyArray_Descr* const natural = PyArray_DESCR(array_of(array));
  if (PyArray_SIZE(array_of(array)) == 0) return copied(array, view);
  if (view.type == DataType::kBf16 && is_bfloat16(natural))
    return copied(array.attr("view")("uint16"), view);
  const bool integers =
      PyTypeNum_ISINTEGER(natural->type_num) && PyTypeNum_ISINTEGER(view.descr()->type_num);
  if (view.type == DataType::kBf16 ||
      (!integers && PyArray_CanCastTypeTo(natural, view.descr(), NPY_SAME_KIND_CASTING) == 0))
    raise_about("input", tensor,
                "takes " + wanted_text(view) + ", and NumPy makes " + dtype_text(array_of(array)) +
                    " of the " + std::string(Py_TYPE(object)->tp_name) +
                    ": give it as an array of the right dtype");
  if (integers) require_range(tensor, view, array);
  return copied(array, view);
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
    std::optional<py::object> array = array_in(object);
    if (array && !has_type(array_of(*array), view))
      raise_about("input", tensor,
                  "takes " + wanted_text(view) + ", and the array is " +
                      dtype_text(array_of(*array)) + ": convert it, as with astype()");
    const char* const reason =
        array ? why_not_in_place(array_of(*array), view) : "it has no memory of its own";
    if (reason == nullptr) return *std::move(array);
    if (options_.strict_zero_copy)
      raise_about(
          "input", tensor,
          std::string("would be copied, since ") + reason + ", and strict_zero_copy forbids that");
    flight_.copied.push_back(tensor.key);
    if (!array) return array_of_numbers(tensor, view, object);
    if (is_bfloat16(PyArray_DESCR(array_of(*array)))) array = array->attr("view")("uint16");
    return copied(*array, view);
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
    raise(invalid_argument("the model has no output " + unknown_name(key, plan_.outputs) +
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

// Returns the keys that are names of no tensor, each with the name that was probably meant.
std::string unknown_names(const py::handle& mapping, const std::vector<TensorPlan>& tensors) {
  std::string text;
  for (const py::handle& key : owned(PyMapping_Keys(mapping.ptr()))) {
    const auto is_key = [&](const TensorPlan& tensor) { return tensor.key.equal(key); };
    if (std::ranges::any_of(tensors, is_key)) continue;
    if (!text.empty()) text += ", ";
    text += unknown_name(key, tensors);
  }
  return text;
}

// Raises the error for a mapping that lacks inputs or has others.
[[noreturn]] void raise_names(const py::handle& mapping, const std::vector<TensorPlan>& inputs) {
  std::string missing, text;
  for (const TensorPlan& tensor : inputs) {
    if (PyMapping_HasKey(mapping.ptr(), tensor.key.ptr()) != 0) continue;
    missing += (missing.empty() ? "\"" : ", \"") + tensor.name + "\"";
  }
  if (!missing.empty()) text = "input " + missing + " is missing";
  if (const std::string unknown = unknown_names(mapping, inputs); !unknown.empty())
    text += (text.empty() ? "the model has no input " : ", and the model has no input ") + unknown;
  raise(invalid_argument(text + "; its inputs are " + names_of(inputs)));
}

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
      raise_names(inputs, plan.inputs);
    }
    values.push_back(owned(value));
    borrowed.push_back(value);
  }
  const Py_ssize_t size = PyMapping_Size(inputs);
  if (size < 0) throw py::error_already_set();
  if (static_cast<size_t>(size) != plan.inputs.size()) raise_names(inputs, plan.inputs);
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
