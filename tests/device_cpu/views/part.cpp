#include "tests/device_cpu/views/part.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::ValueId;

constexpr int64_t kBefore = 1, kBehind = 2;

// A box in a tensor of `whole`, which has the dimensions `size` and begins at `begin`.
struct Box {
  Dims whole, begin, size;
};

Box whole_of(const Dims& dims) {
  return {dims, Dims(dims.size(), 0), dims};
}

void add_margin(Box& box, size_t dim) {
  box.whole[dim] += kBefore + kBehind;
  box.begin[dim] = kBefore;
}

Dims reversed(Dims dims) {
  std::ranges::reverse(dims);
  return dims;
}

// The dimensions are in the order that they have in the larger tensor.
Box box_of(Part part, const Dims& dims) {
  Box box = whole_of(part == Part::kShaped       ? Dims{elements_of(dims)}
                     : part == Part::kTransposed ? reversed(dims)
                                                 : dims);
  if (part == Part::kMatrix || part == Part::kStride) {
    const auto at = [&](Dims& list) { return part == Part::kMatrix ? list.begin() : list.end(); };
    for (Dims* list : {&box.whole, &box.begin, &box.size}) list->insert(at(*list), 1);
    box.begin[part == Part::kMatrix ? 0 : dims.size()] = 0;
    add_margin(box, part == Part::kMatrix ? 0 : dims.size());
    return box;
  }
  if (part == Part::kRows || part == Part::kBlock || part == Part::kShaped) add_margin(box, 0);
  const bool has_columns = part == Part::kColumns || part == Part::kTransposed ||
                           (part == Part::kBlock && dims.size() > 1);
  if (has_columns) add_margin(box, box.whole.size() - 1);
  return box;
}

Dims last_first(size_t rank) {
  Dims permutation(rank);
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  return permutation;
}

ValueId slice(const AddNode& add, ValueId x, Dims begin, Dims size) {
  const Dims steps(begin.size(), 1);
  return add(graph::Slice{std::move(begin), std::move(size), steps}, {x});
}

// Slices the outermost dimension first, and then the others.
ValueId slice_twice(const AddNode& add, ValueId x, const Box& box) {
  Dims size = box.whole;
  size[0] = box.size[0];
  Dims first(size.size(), 0), rest = box.begin;
  std::swap(first[0], rest[0]);
  return slice(add, slice(add, x, first, size), rest, box.size);
}

}  // namespace

std::string name_of(Part part) {
  switch (part) {
    case Part::kRows:
      return "rows";
    case Part::kColumns:
      return "columns";
    case Part::kBlock:
      return "a block";
    case Part::kMatrix:
      return "one matrix";
    case Part::kStride:
      return "every few elements";
    case Part::kShaped:
      return "a stretch of a vector";
    case Part::kTransposed:
      return "transposed columns";
  }
  return "?";
}

bool is_possible(Part part, const Dims& dims) {
  constexpr size_t kMostDims = 6;
  if (part == Part::kMatrix || part == Part::kStride) return dims.size() < kMostDims;
  return !dims.empty();
}

Tensor embed(Part part, const Tensor& tensor, float fill) {
  const Box box = box_of(part, tensor.dims);
  Tensor whole = Tensor::zeros(box.whole);
  std::ranges::fill(whole.data, fill);
  size_t next = 0;
  for_each_index(box.size, [&](const Dims& at) {
    Dims to = at;
    for (size_t i = 0; i < to.size(); ++i) to[i] += box.begin[i];
    whole.at(to) = part == Part::kTransposed ? tensor.at(reversed(at)) : tensor.data[next];
    ++next;
  });
  return whole;
}

ValueId take(ModelBuilder& builder, const AddNode& add, Part part, ValueId whole,
             const Dims& dims) {
  if (part == Part::kMatrix || part == Part::kStride) {
    const int64_t axis = part == Part::kMatrix ? 0 : static_cast<int64_t>(dims.size());
    return add(graph::Gather{axis},
               {whole, builder.integers<int64_t>({}, tensor::DataType::kInt64, {kBefore})});
  }
  const Box box = box_of(part, dims);
  if (part == Part::kBlock) return slice_twice(add, whole, box);
  const ValueId cut = slice(add, whole, box.begin, box.size);
  if (part == Part::kShaped) return add(graph::Reshape{dims}, {cut});
  if (part == Part::kTransposed) return add(graph::Transpose{last_first(dims.size())}, {cut});
  return cut;
}

}  // namespace millrace::device::cpu
