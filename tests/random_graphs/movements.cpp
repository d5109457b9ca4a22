// Adds nodes that only move elements.
#include <algorithm>
#include <numeric>

#include "tests/random_graphs/graph_maker.h"

namespace millrace::test {
namespace {

std::optional<ValueId> any_of_rank(GraphMaker& maker, size_t least, size_t most) {
  return maker.any([&](ValueId id) {
    const size_t rank = maker.dims(id).size();
    return rank >= least && rank <= most;
  });
}

bool slice(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 1, 6);
  if (!x) return false;
  graph::Slice op;
  for (const int64_t dim : maker.dims(*x)) {
    const int64_t step = maker.random().chance(12) ? maker.random().between(2, 3) : 1;
    const int64_t size = maker.random().chance(50) ? dim : maker.random().between(1, dim);
    op.step.push_back(step);
    op.size.push_back((size + step - 1) / step);
    op.begin.push_back(maker.random().between(0, dim - size));
  }
  maker.move(op, {*x});
  return true;
}

ValueId slice_axis(GraphMaker& maker, ValueId x, size_t axis, int64_t begin, int64_t size) {
  graph::Slice op{Dims(maker.dims(x).size(), 0), maker.dims(x), Dims(maker.dims(x).size(), 1)};
  op.begin[axis] = begin;
  op.size[axis] = size;
  return maker.move(op, {x});
}

// Adds nodes as Split is imported; the parts may be joined again in another order.
bool split(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 1, 5);
  if (!x) return false;
  const size_t axis = maker.random().below(maker.dims(*x).size());
  const int64_t dim = maker.dims(*x)[axis];
  std::vector<ValueId> parts;
  for (int64_t begin = 0; begin < dim && parts.size() < 4;) {
    const int64_t size = parts.size() == 3 ? dim - begin : maker.random().between(1, dim - begin);
    parts.push_back(slice_axis(maker, *x, axis, begin, size));
    begin += size;
  }
  if (maker.random().chance(60)) return true;
  maker.random().shuffle(parts);
  maker.move(graph::Concat{static_cast<int64_t>(axis)}, parts);
  return true;
}

bool concat(GraphMaker& maker) {
  const auto x = maker.any_number(1, 5);
  if (!x) return false;
  const size_t axis = maker.random().below(maker.dims(*x).size());
  Dims dims = maker.dims(*x);
  dims[axis] = maker.new_dim();
  std::vector<ValueId> parts = {*x, maker.like(dims)};
  if (maker.random().chance(25)) parts.push_back(parts[maker.random().below(2)]);
  maker.random().shuffle(parts);
  maker.move(graph::Concat{static_cast<int64_t>(axis)}, parts);
  return true;
}

// Joins two neighbours, or divides one dimension into two, the first of which may be 1.
void change_shape(Random& random, Dims& dims) {
  const size_t at = random.below(dims.size());
  if (at + 1 < dims.size() && random.chance(60)) {
    dims[at] *= dims[at + 1];
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(at) + 1);
    return;
  }
  if (dims.size() >= 5) return;
  int64_t factor = random.between(1, dims[at]);
  while (dims[at] % factor != 0) --factor;
  dims[at] /= factor;
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), factor);
}

bool reshape(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 1, 6);
  if (!x) return false;
  Dims dims = maker.dims(*x);
  for (int64_t i = maker.random().between(1, 3); i > 0; --i) change_shape(maker.random(), dims);
  maker.move(graph::Reshape{dims}, {*x});
  return true;
}

bool transpose(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 2, 5);
  if (!x) return false;
  Dims permutation(maker.dims(*x).size());
  std::iota(permutation.begin(), permutation.end(), 0);
  if (maker.random().chance(40))
    std::swap(permutation.back(), permutation[permutation.size() - 2]);
  else
    maker.random().shuffle(permutation);
  maker.move(graph::Transpose{permutation}, {*x});
  return true;
}

std::vector<int64_t> indices(Random& random, int64_t count, int64_t dim) {
  std::vector<int64_t> result;
  for (; count > 0; --count) result.push_back(random.between(-dim, dim - 1));
  return result;
}

bool gather_one(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 2, 6);
  if (!x) return false;
  const size_t axis = maker.random().below(maker.dims(*x).size());
  const auto index = indices(maker.random(), 1, maker.dims(*x)[axis]);
  maker.move(graph::Gather{static_cast<int64_t>(axis)},
             {*x, maker.constant_integers({}, DataType::kInt64, index)});
  return true;
}

bool gather(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 1, 4);
  if (!x) return false;
  const size_t axis = maker.random().below(maker.dims(*x).size());
  const int64_t count = maker.random().between(1, 5);
  const auto chosen = indices(maker.random(), count, maker.dims(*x)[axis]);
  const ValueId index = maker.random().chance(50)
                            ? maker.constant_integers({count}, DataType::kInt64, chosen)
                            : maker.input_of_integers({count}, DataType::kInt32, chosen);
  maker.move(graph::Gather{static_cast<int64_t>(axis)}, {*x, index});
  return true;
}

bool pad(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 1, 5);
  if (!x) return false;
  constexpr graph::PadMode kModes[] = {graph::PadMode::kConstant, graph::PadMode::kReflect,
                                       graph::PadMode::kEdge};
  graph::Pad op{maker.random().one_of(kModes), {}, {}, 0};
  for (const int64_t dim : maker.dims(*x)) {
    const int64_t most = op.mode == graph::PadMode::kReflect ? dim - 1 : 3;
    op.begin.push_back(
        maker.random().chance(50) ? 0 : maker.random().between(0, std::min(most, int64_t{3})));
    op.end.push_back(
        maker.random().chance(50) ? 0 : maker.random().between(0, std::min(most, int64_t{3})));
  }
  maker.move(op, {*x});
  return true;
}

bool expand(GraphMaker& maker) {
  const auto x = any_of_rank(maker, 1, 4);
  if (!x) return false;
  Dims dims = maker.dims(*x);
  for (int64_t& dim : dims)
    if (dim == 1 && maker.random().chance(60)) dim = maker.random().between(1, 4);
  if (maker.random().chance(40)) dims.insert(dims.begin(), maker.random().between(1, 3));
  maker.move(graph::Expand{dims}, {*x});
  return true;
}

bool requantise(GraphMaker& maker) {
  if (maker.numbers() != Numbers::kInt8) return false;
  const auto x = maker.any_number(1, 5);
  if (!x) return false;
  if (maker.is_quantised(*x) && maker.random().chance(30))
    maker.dequantise(*x);
  else
    maker.quantise(*x);
  return true;
}

constexpr Kind kMovements[] = {
    {"Slice", 10, slice},        {"Split", 8, split},
    {"Concat", 8, concat},       {"Reshape", 8, reshape},
    {"Transpose", 8, transpose}, {"Gather one", 8, gather_one},
    {"Gather", 4, gather},       {"Pad", 3, pad},
    {"Expand", 3, expand},       {"Requantise", 8, requantise},
};

}  // namespace

std::span<const Kind> movements() {
  return kMovements;
}

}  // namespace millrace::test
