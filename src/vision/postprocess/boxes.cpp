#include "vision/postprocess/boxes.h"

#include <algorithm>
#include <cmath>

namespace millrace::vision {
namespace {

// Edges in double precision, in which areas of valid boxes are finite.
struct Edges {
  double left, top, right, bottom;
  double area() const { return (right - left) * (bottom - top); }
};

Edges edges_of(const Box& box) {
  return {box.x, box.y, double{box.x} + box.width, double{box.y} + box.height};
}

double iou(const Edges& a, const Edges& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const double common = width * height;
  return common / (a.area() + b.area() - common);
}

}  // namespace

bool is_valid(const Box& box) noexcept {
  return std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width) &&
         std::isfinite(box.height) && box.width >= 0 && box.height >= 0;
}

Box centred_box(float centre_x, float centre_y, float width, float height) noexcept {
  return {centre_x - width / 2, centre_y - height / 2, width, height};
}

float intersection_over_union(const Box& a, const Box& b) noexcept {
  return static_cast<float>(iou(edges_of(a), edges_of(b)));
}

float distance_iou(const Box& a, const Box& b) noexcept {
  const Edges first = edges_of(a);
  const Edges second = edges_of(b);
  const double width = std::max(first.right, second.right) - std::min(first.left, second.left);
  const double height = std::max(first.bottom, second.bottom) - std::min(first.top, second.top);
  const double diagonal = width * width + height * height;
  const double x = (first.left + first.right - second.left - second.right) / 2;
  const double y = (first.top + first.bottom - second.top - second.bottom) / 2;
  const double apart = diagonal > 0 ? (x * x + y * y) / diagonal : 0;
  return static_cast<float>(iou(first, second) - apart);
}

}  // namespace millrace::vision
