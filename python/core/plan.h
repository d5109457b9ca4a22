// The facts by which arrays are bound to a model, computed once when the model is loaded: the name
// of each tensor and, for each view, NumPy's dtype and the shape.
#pragma once

#include <pybind11/pybind11.h>

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/numpy_api.h"
#include "millrace/model.hpp"
#include "millrace/tensor.hpp"

namespace millrace::python {

namespace py = pybind11;

using Dimensions = boost::container::small_vector<npy_intp, 6>;

// NumPy has no BF16: its bits are those of a uint16.
py::object dtype_of(DataType type);

struct ViewPlan {
  ViewPlan(View which, const ViewInfo& info);

  PyArray_Descr* descr() const noexcept { return reinterpret_cast<PyArray_Descr*>(dtype.ptr()); }
  // Returns a new reference, as functions of NumPy take it over.
  PyArray_Descr* new_descr() const noexcept {
    Py_INCREF(dtype.ptr());
    return descr();
  }
  // Returns the shape of an array of `frames` frames, which lie one after the other along the first
  // dimension.
  Dimensions shape_of(uint32_t frames) const;

  View view;
  DataType type;
  py::object dtype;
  size_t item_bytes;
  Dimensions shape;  // of one frame; -1 for open dimensions
  size_t bytes;      // of one frame; 0 if a dimension is open
  bool any_rank;     // whether each job determines the rank, too
};

struct TensorPlan {
  explicit TensorPlan(const TensorInfo& info);

  // Returns the view; raises InvalidArgument if the tensor has no HW view and that is asked for.
  const ViewPlan& in(View view) const { return view == View::kCpu || open ? cpu : hw_view(); }

  std::string name;
  py::str key;
  ViewPlan cpu;
  std::optional<ViewPlan> hw;
  bool open;

 private:
  const ViewPlan& hw_view() const;
};

struct ModelPlan {
  explicit ModelPlan(const Model& model);

  std::vector<TensorPlan> inputs, outputs;
  uint32_t batch_size;
  bool open;  // whether a tensor has open dimensions
  // The memory that is allocated for each open output: what the largest result so far took.
  std::vector<size_t> capacities;
};

// Returns "(1, 3, None)" for dimensions; negative ones are open.
std::string text_of(std::span<const npy_intp> shape);

// Returns the names as text: "a", "b".
std::string names_of(const std::vector<TensorPlan>& tensors);

}  // namespace millrace::python
