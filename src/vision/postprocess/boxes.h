// Bounding boxes of object detectors, and measures of the overlap of two boxes: intersection over
// union (IoU) and distance-IoU. Thread-safe.
#pragma once

#include <cstdint>

namespace millrace::vision {

// A box in pixels of the network's input; (x, y) is its upper left corner.
struct Box {
  float x = 0;
  float y = 0;
  float width = 0;
  float height = 0;
};

struct Detection {
  Box box;
  float score = 0;
  uint32_t class_id = 0;
};

// True if all members are finite and neither width nor height is negative.
bool is_valid(const Box& box) noexcept;

// Returns the box with the given centre.
Box centred_box(float centre_x, float centre_y, float width, float height) noexcept;

// Returns the area of the intersection divided by that of the union, 0 to 1; 0 for boxes without
// area. Requirement, here and below: is_valid() for both boxes.
float intersection_over_union(const Box& a, const Box& b) noexcept;

// Returns the distance-IoU, -1 to 1: the IoU minus the squared distance of the centres divided by
// the squared diagonal of the smallest box that encloses both.
float distance_iou(const Box& a, const Box& b) noexcept;

}  // namespace millrace::vision
