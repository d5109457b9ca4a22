// Experimental operators that the ONNX standard has removed, which early exporters wrote: Affine,
// Crop, ImageScaler, ParametricSoftplus, Scale, ScaledTanh.
#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// Computes y[i] = f(x[i]) in double.
template <class Function>
Status apply(const Call& call, Function&& f) {
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::ranges::transform(call.in(0).as<T>(), call.out(0).as<T>().begin(),
                           [&](T x) { return static_cast<T>(f(x)); });
    return {};
  });
}

Status affine(const Call& call) {
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 0);
  return apply(call, [=](double x) { return alpha * x + beta; });
}

Status parametric_softplus(const Call& call) {
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  return apply(call, [=](double x) { return alpha * reference::softplus(beta * x); });
}

Status scaled_tanh(const Call& call) {
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  return apply(call, [=](double x) { return alpha * std::tanh(beta * x); });
}

Status scale(const Call& call) {
  const double factor = call.real("scale", 1);
  return apply(call, [=](double x) { return factor * x; });
}

Status shape_of_image_scaler(Inference& node) {
  const std::vector<float>* bias = node.reals("bias");
  const TensorView& x = node.in(0);
  if (x.rank() != 4 || bias == nullptr || static_cast<int64_t>(bias->size()) != x.dims[1])
    return invalid_argument("its input must be [N, C, H, W], with one bias for each channel");
  return same_as_first(node);
}

Status image_scaler(const Call& call) {
  const double factor = call.real("scale", 1);
  const std::vector<float>& bias = *call.reals("bias");
  const size_t plane = element_count(call.in(0).dims.subspan(2));
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    for (size_t i = 0; i < x.size(); ++i)
      call.out(0).as<T>()[i] = static_cast<T>(factor * x[i] + bias[i / plane % bias.size()]);
    return {};
  });
}

// Returns the height and width that a Crop keeps: `border` cuts left, top, right and bottom, or
// `scale` states the height and width that follow the left and top borders.
Result<Dims> cropped_size(const NodeView& node) {
  const TensorView& x = node.in(0);
  const Dims *border = node.integers("border"), *scale = node.integers("scale");
  if (x.rank() != 4 || border == nullptr || border->size() != 4)
    return invalid_argument("its input must be [N, C, H, W], with a border of four integers");
  for (const int64_t number : *border)
    if (number < 0 || number > graph::kMaxElements)
      return invalid_argument("border is out of range");
  Dims size = {x.dims[2] - (*border)[1] - (*border)[3], x.dims[3] - (*border)[0] - (*border)[2]};
  if (scale != nullptr && scale->size() != 2)
    return invalid_argument("scale must have two entries");
  if (scale != nullptr) size = *scale;
  const bool fits = size[0] >= 0 && size[1] >= 0 && size[0] <= x.dims[2] - (*border)[1] &&
                    size[1] <= x.dims[3] - (*border)[0];
  if (!fits) return invalid_argument("it crops more than its input has");
  return size;
}

Status shape_of_crop(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims size, cropped_size(node));
  const TensorView& x = node.in(0);
  node.set(0, x.type, {x.dims[0], x.dims[1], size[0], size[1]});
  return {};
}

Status crop(const Call& call) {
  const TensorView& x = call.in(0);
  const Dims& border = *call.integers("border");
  const auto left = static_cast<size_t>(border[0]), top = static_cast<size_t>(border[1]);
  const auto height = static_cast<size_t>(x.dims[2]), width = static_cast<size_t>(x.dims[3]);
  const auto rows = static_cast<size_t>(call.out(0).dims[2]);
  const auto columns = static_cast<size_t>(call.out(0).dims[3]);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t plane = i / columns / rows, row = i / columns % rows, column = i % columns;
      y[i] = x.as<T>()[(plane * height + top + row) * width + left + column];
    }
    return {};
  });
}

constexpr AttributeSpec kAlphaBeta[] = {{"alpha", AttributeKind::kFloat},
                                        {"beta", AttributeKind::kFloat}};
constexpr AttributeSpec kCrop[] = {{"border", AttributeKind::kIntegers},
                                   {"scale", AttributeKind::kIntegers}};
constexpr AttributeSpec kImageScaler[] = {{"bias", AttributeKind::kFloats},
                                          {"scale", AttributeKind::kFloat}};
constexpr AttributeSpec kScale[] = {{"scale", AttributeKind::kFloat}};

}  // namespace

std::span<const OperatorSpec> removed_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Affine", 1, {}, {}, kReals, same_as_first, affine, kAlphaBeta},
      {"Crop", 1, {}, {}, kReals, shape_of_crop, crop, kCrop},
      {"ImageScaler", 1, {}, {}, kReals, shape_of_image_scaler, image_scaler, kImageScaler},
      {"ParametricSoftplus", 1, {}, {}, kReals, same_as_first, parametric_softplus, kAlphaBeta},
      {"Scale", 1, {}, {}, kReals, same_as_first, scale, kScale},
      {"ScaledTanh", 1, {}, {}, kReals, same_as_first, scaled_tanh, kAlphaBeta},
  };
  return kOperators;
}

}  // namespace millrace::fallback
