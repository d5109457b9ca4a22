#include "cli/golden/golden_compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/compare/cosine.h"

namespace millrace::cli {
namespace {

// Returns the distance between neighbouring values of a floating type at `magnitude`.
double spacing(tensor::DataType type, double magnitude) {
  const int digits = type == tensor::DataType::kBf16   ? 7
                     : type == tensor::DataType::kFp16 ? 10
                                                       : 23;
  const int lowest = type == tensor::DataType::kFp16 ? -14 : -126;  // below are the subnormals
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), lowest) : lowest;
  return std::ldexp(1.0, exponent - digits);
}

double step_of(const graph::Boundary& boundary, std::span<const float> theirs) {
  const tensor::DataType type = boundary.hw ? boundary.hw->type : boundary.cpu.type;
  if (!tensor::is_floating(type))
    return tensor::is_floating(boundary.cpu.type) ? boundary.quant.scale : 1.0;
  double largest = 0;
  for (const float value : theirs)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
  return spacing(type, largest);
}

double distance(float a, float b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(double{a} - double{b});
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

// Returns a difference that is not 0 in relation to the reference. An infinite one stays so.
double relative(double apart, float theirs) {
  return std::isfinite(apart) ? apart / std::abs(double{theirs}) : apart;
}

Difference difference_at(const tensor::TensorDesc& cpu, size_t at, float ours, float theirs) {
  Difference difference;
  difference.frame = static_cast<uint32_t>(at / cpu.elements());
  difference.index = at % cpu.elements();
  difference.ours = ours;
  difference.theirs = theirs;
  size_t rest = difference.index;
  for (const uint32_t stride : cpu.strides()) {
    difference.coordinates.push_back(static_cast<uint32_t>(rest / stride));
    rest %= stride;
  }
  return difference;
}

}  // namespace

Comparison compare(const graph::Boundary& boundary, std::span<const float> ours,
                   std::span<const float> theirs, const Tolerances& tolerances) {
  Comparison result;
  if (ours.empty()) return result;  // the means below would divide by zero
  result.frames = static_cast<uint32_t>(ours.size() / boundary.cpu.elements());
  result.step = step_of(boundary, theirs);
  double sum = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double apart = distance(ours[i], theirs[i]);
    sum += apart / result.step;
    result.max_absolute = std::max(result.max_absolute, apart);
    if (theirs[i] != 0 && apart > 0)
      result.max_relative = std::max(result.max_relative, relative(apart, theirs[i]));
    const bool within = std::isfinite(apart) && apart <= tolerances.allowed(result.step, theirs[i]);
    if (!within && !result.first) result.first = difference_at(boundary.cpu, i, ours[i], theirs[i]);
  }
  result.max_steps = result.max_absolute / result.step;
  result.mean_steps = sum / static_cast<double>(ours.size());
  result.cosine = cosine_of(ours, theirs);
  result.within = !result.first && result.cosine >= tolerances.cosine.value_or(-1);
  return result;
}

}  // namespace millrace::cli
