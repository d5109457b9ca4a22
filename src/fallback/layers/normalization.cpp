// Normalisation: BatchNormalization, GroupNormalization, InstanceNormalization, LayerNormalization,
// LRN, LpNormalization, MeanVarianceNormalization, RMSNormalization. Means and variances are
// computed in double, in two passes, with the biased variance (divided by the number of elements).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/layers/root_mean_square.h"

namespace millrace::fallback {
namespace {

struct Moments {
  double mean = 0, variance = 0;
};

template <class T>
Moments moments_of(std::span<const T> elements) {
  Moments moments;
  for (const T element : elements) moments.mean += element;
  moments.mean /= static_cast<double>(elements.size());
  for (const T element : elements) {
    const double distance = element - moments.mean;
    moments.variance += distance * distance;
  }
  moments.variance /= static_cast<double>(elements.size());
  return moments;
}

Status check_type_of(const Inference& node, size_t index) {
  if (!node.has(index) || node.in(index).type == node.in(0).type) return {};
  return invalid_argument(fmt::format("input {} and input 0 differ in type", index));
}

Status check_dims_of(const Inference& node, size_t index, const Dims& wanted) {
  if (!node.has(index) || to_dims(node.in(index).dims) == wanted) return {};
  return invalid_argument(fmt::format("input {} is {}, not {}", index,
                                      graph::to_string(to_dims(node.in(index).dims)),
                                      graph::to_string(wanted)));
}

// The further outputs, mean and inverse standard deviation, have one element per normalised group.
Status shape_of_layer_norm(Inference& node) {
  const TensorView& x = node.in(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis", -1), x.rank()));
  const Dims group(x.dims.begin() + static_cast<ptrdiff_t>(axis), x.dims.end());
  for (const size_t index : {size_t{1}, size_t{2}}) {
    MILLRACE_RETURN_IF_ERROR(check_type_of(node, index));
    if (!node.has(index)) continue;
    MILLRACE_ASSIGN_OR_RETURN(const Dims joint,
                              graph::broadcast(to_dims(node.in(index).dims), group));
    if (joint != group)
      return invalid_argument("scale or bias does not broadcast to the normalised dimensions");
  }
  if (element_count(group) == 0 && node.output_count() > 1)
    return invalid_argument("its input is empty, so it has no mean");
  Dims statistics = to_dims(x.dims);
  std::fill(statistics.begin() + static_cast<ptrdiff_t>(axis), statistics.end(), 1);
  node.set(0, x.type, to_dims(x.dims));
  node.set(1, DataType::kFloat32, statistics);
  node.set(2, DataType::kFloat32, std::move(statistics));
  return {};
}

// Returns for each element of a group the index of the element of a scale or bias that applies to
// it.
std::vector<size_t> broadcast_indices(std::span<const int64_t> dims,
                                      std::span<const int64_t> group) {
  std::vector<size_t> indices = {0};
  size_t stride = 1;
  std::vector<size_t> strides(group.size(), 0);
  for (size_t back = 0; back < dims.size(); ++back) {
    const int64_t dim = dims[dims.size() - 1 - back];
    strides[group.size() - 1 - back] = dim == 1 ? 0 : stride;
    stride *= static_cast<size_t>(dim);
  }
  for (size_t d = 0; d < group.size(); ++d) {
    std::vector<size_t> next;
    next.reserve(indices.size() * static_cast<size_t>(group[d]));
    for (const size_t index : indices)
      for (size_t i = 0; i < static_cast<size_t>(group[d]); ++i)
        next.push_back(index + i * strides[d]);
    indices = std::move(next);
  }
  return indices;
}

template <class T>
void normalise_group(std::span<const T> x, std::span<T> y, const Moments& moments, double inverse) {
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>((x[i] - moments.mean) * inverse);
}

template <class T>
void scale_group(std::span<T> y, const TensorView& scale, const std::vector<size_t>& indices) {
  const auto factors = scale.as<T>();
  for (size_t i = 0; i < y.size(); ++i) y[i] *= factors[indices[i]];
}

template <class T>
void shift_group(std::span<T> y, const TensorView& bias, const std::vector<size_t>& indices) {
  const auto offsets = bias.as<T>();
  for (size_t i = 0; i < y.size(); ++i) y[i] += offsets[indices[i]];
}

Status layer_norm(const Call& call) {
  const TensorView& x = call.in(0);
  const size_t axis = *graph::normalise_axis(call.integer("axis", -1), x.rank());
  const auto group = x.dims.subspan(axis);
  const size_t size = element_count(group), groups = size == 0 ? 0 : x.elements() / size;
  const double epsilon = call.real("epsilon", 1e-5f);
  const auto scales = broadcast_indices(call.in(1).dims, group);
  const auto shifts = call.has(2) ? broadcast_indices(call.in(2).dims, group) : scales;
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t g = 0; g < groups; ++g) {
      const auto from = x.as<T>().subspan(g * size, size);
      const auto to = call.out(0).as<T>().subspan(g * size, size);
      const Moments moments = moments_of(from);
      const double inverse = 1 / std::sqrt(moments.variance + epsilon);
      normalise_group(from, to, moments, inverse);
      scale_group(to, call.in(1), scales);
      if (call.has(2)) shift_group(to, call.in(2), shifts);
      if (call.output_count() > 1) call.out(1).as<float>()[g] = static_cast<float>(moments.mean);
      if (call.output_count() > 2) call.out(2).as<float>()[g] = static_cast<float>(inverse);
    }
    return {};
  });
}

bool trains(const NodeView& node) {
  return node.integer("training_mode") != 0;
}

Status shape_of_batch_norm(Inference& node) {
  const TensorView& x = node.in(0);
  if (x.rank() < 2) return invalid_argument("its input has no channels");
  if (!trains(node) && node.output_count() > 1)
    return unsupported("only training_mode = 1 has more than one output");
  const Dims channels = {x.dims[1]};
  for (size_t index = 1; index < node.input_count(); ++index) {
    MILLRACE_RETURN_IF_ERROR(check_type_of(node, index));
    MILLRACE_RETURN_IF_ERROR(check_dims_of(node, index, channels));
  }
  if (trains(node) && x.elements() == 0 && x.dims[1] != 0)
    return invalid_argument("its input is empty, so it has no mean");
  for (size_t output : {size_t{1}, size_t{2}}) node.set(output, x.type, channels);
  return same_as_first(node);
}

// Computes the moments of one channel of an input [N, C, ...].
template <class T>
Moments moments_of_channel(std::span<const T> x, const AxisSplit& split, size_t channel) {
  std::vector<T> elements;
  elements.reserve(split.outer * split.inner);
  for (size_t n = 0; n < split.outer; ++n) {
    const auto plane = x.subspan((n * split.size + channel) * split.inner, split.inner);
    elements.insert(elements.end(), plane.begin(), plane.end());
  }
  return moments_of(std::span<const T>(elements));
}

// Inputs: x, scale, bias, mean, variance. With training_mode = 1 the moments are computed from x,
// and the further outputs are the running mean and variance: averages of the given and the computed
// moments, weighted by the momentum.
Status batch_norm(const Call& call) {
  const AxisSplit split(call.in(0).dims, 1);
  const double epsilon = call.real("epsilon", 1e-5f), momentum = call.real("momentum", 0.9f);
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    for (size_t channel = 0; channel < split.size; ++channel) {
      const auto parameter = [&](size_t index) {
        return static_cast<double>(call.in(index).as<T>()[channel]);
      };
      const Moments given{parameter(3), parameter(4)};
      const Moments moments = trains(call) ? moments_of_channel<T>(x, split, channel) : given;
      const double deviation = std::sqrt(moments.variance + epsilon);
      for (size_t n = 0; n < split.outer; ++n) {
        const size_t first = (n * split.size + channel) * split.inner;
        for (size_t i = first; i < first + split.inner; ++i)
          y[i] = static_cast<T>((x[i] - moments.mean) / deviation * parameter(1) + parameter(2));
      }
      const auto set_running = [&](size_t output, double before, double now) {
        if (output < call.output_count())
          call.out(output).as<T>()[channel] =
              static_cast<T>(before * momentum + now * (1 - momentum));
      };
      set_running(1, given.mean, moments.mean);
      set_running(2, given.variance, moments.variance);
    }
    return {};
  });
}

Status shape_of_instance_norm(Inference& node) {
  const TensorView& x = node.in(0);
  if (x.rank() < 2) return invalid_argument("its input has no channels");
  for (const size_t index : {size_t{1}, size_t{2}}) {
    MILLRACE_RETURN_IF_ERROR(check_type_of(node, index));
    MILLRACE_RETURN_IF_ERROR(check_dims_of(node, index, {x.dims[1]}));
  }
  return same_as_first(node);
}

Status instance_norm(const Call& call) {
  const TensorView& x = call.in(0);
  const auto channels = static_cast<size_t>(x.dims[1]);
  const size_t size = element_count(x.dims.subspan(2));
  const double epsilon = call.real("epsilon", 1e-5f);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const size_t groups = static_cast<size_t>(x.dims[0]) * channels;
    for (size_t g = 0; g < groups; ++g) {
      const auto from = x.as<T>().subspan(g * size, size);
      const auto to = call.out(0).as<T>().subspan(g * size, size);
      const Moments moments = moments_of(from);
      const double scale = call.in(1).as<T>()[g % channels] / std::sqrt(moments.variance + epsilon);
      const double bias = call.in(2).as<T>()[g % channels];
      for (size_t i = 0; i < size; ++i)
        to[i] = static_cast<T>((from[i] - moments.mean) * scale + bias);
    }
    return {};
  });
}

Status shape_of_group_norm(Inference& node) {
  const TensorView& x = node.in(0);
  const int64_t groups = node.integer("num_groups");
  if (x.rank() < 2) return invalid_argument("its input has no channels");
  if (groups < 1 || x.dims[1] % groups != 0)
    return invalid_argument("num_groups must divide the number of channels");
  // Scale and bias have one element per channel or, before operator set 21, per group.
  const bool per_group = to_dims(node.in(1).dims) == Dims{groups};
  for (const size_t index : {size_t{1}, size_t{2}}) {
    MILLRACE_RETURN_IF_ERROR(check_type_of(node, index));
    MILLRACE_RETURN_IF_ERROR(check_dims_of(node, index, {per_group ? groups : x.dims[1]}));
  }
  return same_as_first(node);
}

Status group_norm(const Call& call) {
  const TensorView& x = call.in(0);
  const auto channels = static_cast<size_t>(x.dims[1]);
  const auto groups = static_cast<size_t>(call.integer("num_groups"));
  const size_t plane = element_count(x.dims.subspan(2)), size = channels / groups * plane;
  const double epsilon = call.real("epsilon", 1e-5f);
  const size_t sharing = channels / call.in(1).elements();  // channels per scale and bias
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t g = 0; g < static_cast<size_t>(x.dims[0]) * groups; ++g) {
      const auto from = x.as<T>().subspan(g * size, size);
      const auto to = call.out(0).as<T>().subspan(g * size, size);
      const Moments moments = moments_of(from);
      const double inverse = 1 / std::sqrt(moments.variance + epsilon);
      for (size_t i = 0; i < size; ++i) {
        const size_t channel = g % groups * (channels / groups) + i / plane;
        const size_t at = channel / sharing;
        to[i] = static_cast<T>((from[i] - moments.mean) * inverse * call.in(1).as<T>()[at] +
                               call.in(2).as<T>()[at]);
      }
    }
    return {};
  });
}

Status shape_of_lrn(Inference& node) {
  if (node.in(0).rank() < 2) return invalid_argument("its input has no channels");
  if (node.integer("size") < 1) return invalid_argument("size must be positive");
  return same_as_first(node);
}

// Local response normalisation across channels: y = x / (bias + alpha / size * (sum of the squares
// of `size` channels around it)) ^ beta.
Status lrn(const Call& call) {
  const TensorView& x = call.in(0);
  const AxisSplit split(x.dims, 1);
  const int64_t size = call.integer("size"), before = (size - 1) / 2, after = size - 1 - before;
  const double alpha = call.real("alpha", 1e-4f), beta = call.real("beta", 0.75f);
  const double bias = call.real("bias", 1);
  const auto channels = static_cast<int64_t>(split.size);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t line = 0; line < split.lines(); ++line) {
      const T* from = x.as<T>().data() + split.start(line);
      T* to = call.out(0).as<T>().data() + split.start(line);
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        const int64_t last = std::min(c + std::min(after, channels), channels - 1);
        for (int64_t k = std::max<int64_t>(c - before, 0); k <= last; ++k) {
          const double element = from[static_cast<size_t>(k) * split.inner];
          sum += element * element;
        }
        const size_t at = static_cast<size_t>(c) * split.inner;
        to[at] = static_cast<T>(from[at] /
                                std::pow(bias + alpha / static_cast<double>(size) * sum, beta));
      }
    }
    return {};
  });
}

Status shape_of_lp_norm(Inference& node) {
  const int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) return invalid_argument("p must be 1 or 2");
  MILLRACE_RETURN_IF_ERROR(
      graph::normalise_axis(node.integer("axis", -1), node.in(0).rank()).status());
  return same_as_first(node);
}

// A line of zeros stays unchanged.
Status lp_norm(const Call& call) {
  const AxisSplit split(call.in(0).dims,
                        *graph::normalise_axis(call.integer("axis", -1), call.in(0).rank()));
  const bool squares = call.integer("p", 2) == 2;
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t line = 0; line < split.lines(); ++line) {
      const T* from = call.in(0).as<T>().data() + split.start(line);
      T* to = call.out(0).as<T>().data() + split.start(line);
      double norm = 0;
      for (size_t i = 0; i < split.size; ++i) {
        const double element = from[i * split.inner];
        norm += squares ? element * element : std::fabs(element);
      }
      if (squares) norm = std::sqrt(norm);
      for (size_t i = 0; i < split.size; ++i)
        to[i * split.inner] = norm == 0 ? T{0} : static_cast<T>(from[i * split.inner] / norm);
    }
    return {};
  });
}

Status shape_of_rms_norm(Inference& node) {
  const TensorView& x = node.in(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis", -1), x.rank()));
  const Dims group(x.dims.begin() + static_cast<ptrdiff_t>(axis), x.dims.end());
  MILLRACE_RETURN_IF_ERROR(check_type_of(node, 1));
  MILLRACE_ASSIGN_OR_RETURN(const Dims joint, graph::broadcast(to_dims(node.in(1).dims), group));
  if (joint != group)
    return invalid_argument("the scale does not broadcast to the normalised dimensions");
  return same_as_first(node);
}

// Divides by the root mean square, without subtracting the mean.
Status rms_norm(const Call& call) {
  const TensorView& x = call.in(0);
  const size_t axis = *graph::normalise_axis(call.integer("axis", -1), x.rank());
  const auto group = x.dims.subspan(axis);
  const size_t size = element_count(group), groups = size == 0 ? 0 : x.elements() / size;
  const double epsilon = call.real("epsilon", 1e-5f);
  const auto scales = broadcast_indices(call.in(1).dims, group);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t g = 0; g < groups; ++g) {
      const auto from = x.as<T>().subspan(g * size, size);
      const auto to = call.out(0).as<T>().subspan(g * size, size);
      normalise_group(from, to, {}, inverse_root_mean_square(from, epsilon));
      scale_group(to, call.in(1), scales);
    }
    return {};
  });
}

// Returns by dimension whether MeanVarianceNormalization computes moments over it.
Result<std::vector<bool>> moment_axes(const NodeView& node) {
  const size_t rank = node.in(0).rank();
  const Dims of_pictures = {0, 2, 3};
  const Dims* stated = node.integers("axes");
  std::vector<bool> axes(rank, false);
  for (const int64_t axis : stated != nullptr ? *stated : of_pictures) {
    MILLRACE_ASSIGN_OR_RETURN(const size_t d, graph::normalise_axis(axis, rank));
    axes[d] = true;
  }
  return axes;
}

Status shape_of_mvn(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(moment_axes(node).status());
  return same_as_first(node);
}

// Returns the group of each element of a tensor. A group is the elements that differ along `axes`
// only.
std::vector<size_t> groups_along(std::span<const int64_t> dims, const std::vector<bool>& axes) {
  std::vector<size_t> groups = {0};
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto size = static_cast<size_t>(dims[d]);
    std::vector<size_t> next;
    next.reserve(groups.size() * size);
    for (const size_t group : groups)
      for (size_t i = 0; i < size; ++i) next.push_back(axes[d] ? group : group * size + i);
    groups = std::move(next);
  }
  return groups;
}

Status mean_variance_norm(const Call& call) {
  constexpr double kEpsilon = 1e-9;
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<bool> axes, moment_axes(call));
  const auto groups = groups_along(call.in(0).dims, axes);
  const size_t count = groups.empty() ? 0 : groups.back() + 1;
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    std::vector<std::vector<T>> members(count);
    for (size_t i = 0; i < x.size(); ++i) members[groups[i]].push_back(x[i]);
    std::vector<Moments> moments;
    for (const auto& elements : members) moments.push_back(moments_of<T>(elements));
    for (size_t i = 0; i < x.size(); ++i) {
      const Moments& own = moments[groups[i]];
      call.out(0).as<T>()[i] =
          static_cast<T>((x[i] - own.mean) / (std::sqrt(own.variance) + kEpsilon));
    }
    return {};
  });
}

constexpr AttributeSpec kLayerNorm[] = {{"axis", AttributeKind::kInteger},
                                        {"epsilon", AttributeKind::kFloat},
                                        {"stash_type", AttributeKind::kInteger}};
constexpr AttributeSpec kInstanceNorm[] = {{"epsilon", AttributeKind::kFloat}};
constexpr AttributeSpec kGroupNorm[] = {{"epsilon", AttributeKind::kFloat},
                                        {"num_groups", AttributeKind::kInteger},
                                        {"stash_type", AttributeKind::kInteger}};
constexpr AttributeSpec kLrn[] = {{"alpha", AttributeKind::kFloat},
                                  {"beta", AttributeKind::kFloat},
                                  {"bias", AttributeKind::kFloat},
                                  {"size", AttributeKind::kInteger}};
constexpr AttributeSpec kMoments[] = {{"axes", AttributeKind::kIntegers}};
constexpr AttributeSpec kLpNorm[] = {{"axis", AttributeKind::kInteger},
                                     {"p", AttributeKind::kInteger}};

constexpr AttributeSpec kBatchNorm[] = {{"epsilon", AttributeKind::kFloat},
                                        {"momentum", AttributeKind::kFloat},
                                        {"training_mode", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> normalization_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"BatchNormalization",
       9,
       {5, 5},
       {1, 3},
       kReals,
       shape_of_batch_norm,
       batch_norm,
       kBatchNorm},
      {"GroupNormalization", 18, {3, 3}, {}, kReals, shape_of_group_norm, group_norm, kGroupNorm},
      {"InstanceNormalization",
       1,
       {3, 3},
       {},
       kReals,
       shape_of_instance_norm,
       instance_norm,
       kInstanceNorm},
      {"LRN", 1, {}, {}, kReals, shape_of_lrn, lrn, kLrn},
      {"LayerNormalization",
       1,
       {2, 3},
       {1, 3},
       kReals,
       shape_of_layer_norm,
       layer_norm,
       kLayerNorm},
      {"LpNormalization", 1, {}, {}, kReals, shape_of_lp_norm, lp_norm, kLpNorm},
      {"MeanVarianceNormalization", 9, {}, {}, kReals, shape_of_mvn, mean_variance_norm, kMoments},
      {"RMSNormalization", 23, {2, 2}, {}, kReals, shape_of_rms_norm, rms_norm, kLayerNorm},
  };
  return kOperators;
}

}  // namespace millrace::fallback
