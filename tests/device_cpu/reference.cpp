#include "tests/device_cpu/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace millrace::device::cpu {

using graph::Dims;
using graph::UnaryKind;

Tensor Tensor::numbers(const Dims& dims, uint32_t seed) {
  Tensor tensor = zeros(dims);
  uint32_t state = seed * 2654435761u + 1;
  for (float& value : tensor.data) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(state >> 24) - 128) / 128.0f;
  }
  return tensor;
}

Tensor Tensor::zeros(const Dims& dims) {
  return {dims, std::vector<float>(static_cast<size_t>(elements_of(dims)))};
}

size_t Tensor::offset(const Dims& index) const {
  size_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    offset = offset * static_cast<size_t>(dims[i]) + static_cast<size_t>(index[i]);
  return offset;
}

int64_t elements_of(const Dims& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

void for_each_index(const Dims& dims, const std::function<void(const Dims&)>& visit) {
  Dims index(dims.size(), 0);
  for (int64_t count = elements_of(dims); count > 0; --count) {
    visit(index);
    for (size_t i = dims.size(); i-- > 0;) {
      if (++index[i] < dims[i]) break;
      index[i] = 0;
    }
  }
}

float broadcast_at(const Tensor& tensor, const Dims& index) {
  Dims own(index.end() - static_cast<std::ptrdiff_t>(tensor.dims.size()), index.end());
  for (size_t i = 0; i < own.size(); ++i)
    if (tensor.dims[i] == 1) own[i] = 0;
  return tensor.at(own);
}

float reference_unary(const graph::Activation& function, float x) {
  const float a = function.alpha, b = function.beta;
  const auto clamp = [](float v, float low, float high) {
    return std::isnan(v) ? v : std::fmin(std::fmax(v, low), high);
  };
  switch (function.kind) {
    case UnaryKind::kIdentity:
      return x;
    case UnaryKind::kRelu:
      return clamp(x, 0, INFINITY);
    case UnaryKind::kClip:
      return clamp(x, a, b);
    case UnaryKind::kLeakyRelu:
      return x < 0 ? a * x : x;
    case UnaryKind::kElu:
      return x < 0 ? a * std::expm1(x) : x;
    case UnaryKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryKind::kTanh:
      return std::tanh(x);
    case UnaryKind::kHardSigmoid:
      return clamp(a * x + b, 0, 1);
    case UnaryKind::kHardSwish:
      return x * clamp(x / 6 + 0.5f, 0, 1);
    case UnaryKind::kSwish:
      return x * (1 / (1 + std::exp(-x)));
    case UnaryKind::kGelu:
      return 0.5f * x * (1 + std::erf(x / std::sqrt(2.0f)));
    case UnaryKind::kExp:
      return std::exp(x);
    case UnaryKind::kLog:
      return std::log(x);
    case UnaryKind::kSqrt:
      return std::sqrt(x);
    case UnaryKind::kAbs:
      return std::fabs(x);
    case UnaryKind::kNeg:
      return -x;
    case UnaryKind::kErf:
      return std::erf(x);
    case UnaryKind::kRound:
      return std::nearbyint(x);
    case UnaryKind::kFloor:
      return std::floor(x);
    case UnaryKind::kCeil:
      return std::ceil(x);
    case UnaryKind::kReciprocal:
      return 1 / x;
    case UnaryKind::kSoftplus:
      return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x)));
    case UnaryKind::kPow:
      return std::pow(x, a);
    case UnaryKind::kLinear:
      return a * x + b;
  }
  return x;
}

float reference_binary(graph::BinaryKind kind, float a, float b) {
  const bool is_nan = std::isnan(a) || std::isnan(b);
  switch (kind) {
    case graph::BinaryKind::kAdd:
      return a + b;
    case graph::BinaryKind::kSub:
      return a - b;
    case graph::BinaryKind::kMul:
      return a * b;
    case graph::BinaryKind::kDiv:
      return a / b;
    case graph::BinaryKind::kPow:
      return std::pow(a, b);
    case graph::BinaryKind::kMin:
      return is_nan ? NAN : std::fmin(a, b);
    case graph::BinaryKind::kMax:
      return is_nan ? NAN : std::fmax(a, b);
    case graph::BinaryKind::kPrelu:
      return a < 0 ? a * b : a;
  }
  return 0;
}

Tensor reference_binary(graph::BinaryKind kind, const Tensor& a, const Tensor& b,
                        const Dims& result) {
  Tensor y = Tensor::zeros(result);
  for_each_index(result, [&](const Dims& index) {
    y.at(index) = reference_binary(kind, broadcast_at(a, index), broadcast_at(b, index));
  });
  return y;
}

Tensor map(const Tensor& x, const std::function<float(float)>& function) {
  Tensor y = x;
  for (float& value : y.data) value = function(value);
  return y;
}

namespace {

// The index in x that `tap` of the window at output `index` reads; false where it is padding.
bool input_index(const Dims& index, const Dims& tap, const Dims& strides, const Dims& dilations,
                 const Dims& pads, const Dims& x_dims, Dims& at) {
  for (size_t i = 0; i < tap.size(); ++i) {
    at[i + 2] = index[i + 2] * strides[i] + tap[i] * dilations[i] - pads[i];
    if (at[i + 2] < 0 || at[i + 2] >= x_dims[i + 2]) return false;
  }
  return true;
}

}  // namespace

Tensor reference_conv(const graph::Conv& op, const Tensor& x, const Tensor& weight,
                      const Dims& result) {
  Tensor y = Tensor::zeros(result);
  const int64_t per_group = weight.dims[1];
  const Dims kernel(weight.dims.begin() + 2, weight.dims.end());
  // Made once: an allocation for each product takes most of the time.
  Dims at(result.size()), w(weight.dims.size());
  for_each_index(result, [&](const Dims& index) {
    const int64_t group = index[1] / (result[1] / op.group);
    double sum = 0;
    at[0] = index[0];
    w[0] = index[1];
    for (int64_t c = 0; c < per_group; ++c) {
      at[1] = group * per_group + c;
      w[1] = c;
      for_each_index(kernel, [&](const Dims& tap) {
        if (!input_index(index, tap, op.strides, op.dilations, op.pads_begin, x.dims, at)) return;
        std::copy(tap.begin(), tap.end(), w.begin() + 2);
        sum += static_cast<double>(x.at(at)) * weight.at(w);
      });
    }
    y.at(index) = static_cast<float>(sum);
  });
  return y;
}

Tensor reference_pool(const graph::Pool& op, const Tensor& x, const Dims& result) {
  Tensor y = Tensor::zeros(result);
  for_each_index(result, [&](const Dims& index) {
    double sum = 0;
    float largest = -std::numeric_limits<float>::infinity();
    int64_t inside = 0, counted = 0;
    for_each_index(op.kernel, [&](const Dims& tap) {
      Dims at = index;
      bool counts = true;
      for (size_t i = 0; i < tap.size(); ++i) {
        const int64_t position =
            index[i + 2] * op.strides[i] + tap[i] * op.dilations[i] - op.pads_begin[i];
        counts = counts && position < x.dims[i + 2] + op.pads_end[i] - op.ceil_excess[i];
      }
      counted += counts ? 1 : 0;
      if (!input_index(index, tap, op.strides, op.dilations, op.pads_begin, x.dims, at)) return;
      sum += x.at(at);
      largest = std::max(largest, x.at(at));
      ++inside;
    });
    const int64_t divisor = op.count_include_pad ? counted : inside;
    y.at(index) = op.kind == graph::PoolKind::kMax
                      ? largest
                      : static_cast<float>(sum / static_cast<double>(divisor));
  });
  return y;
}

}  // namespace millrace::device::cpu
