// Reorders of constants, and a copy in place of reorders that oneDNN does wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/dnnl/desc.h"

namespace millrace::device::cpu {

// Whether oneDNN's reorder gives all elements (see defects.h).
bool reorders_rightly(const Desc& from, const Desc& to);

// Copies a tensor, element by element, to another layout, and fills its padding with zeros.
class LayoutCopy {
 public:
  // Requirement: both have the same type and dimensions, and layout_of() knows both layouts.
  LayoutCopy(const Desc& from, const Desc& to);

  // The pointers are the starts of the memory of the two descriptors.
  void run(const std::byte* from, std::byte* to) const noexcept;

 private:
  // The distances of the indices of a dimension from the first element, in elements; in `to` those
  // of the padding, too.
  struct Axis {
    std::vector<int64_t> from, to;
  };
  // One index for each dimension but the last.
  class Position;

  template <class Element>
  void copy(const Element* from, Element* to) const noexcept;

  std::vector<Axis> axes_;
  int64_t from_start_, to_start_;
  size_t element_size_;
};

// Reorders elements that are in memory now. May throw dnnl::error and std::bad_alloc. Requirement:
// both have the same type, if oneDNN adds sums of weights behind the elements of `to`.
void reorder(const dnnl::engine& engine, const dnnl::stream& stream, const Desc& from,
             const void* elements, const Desc& to, void* data);

}  // namespace millrace::device::cpu
