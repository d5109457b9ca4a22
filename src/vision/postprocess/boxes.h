// Boxes that a detector found, and how much two of them overlap. Thread-safe.
#pragma once

#include <cstdint>

namespace millrace::vision {

// Pixels of the network's input; x and y are the upper left corner.
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

// Finite, and neither width nor height below 0.
bool is_valid(const Box& box) noexcept;

// The box with that centre.
Box centred_box(float centre_x, float centre_y, float width, float height) noexcept;

// The area that both cover by the area that either covers, 0 to 1; 0 for boxes without area.
// Requirement, here and below: valid boxes.
float intersection_over_union(const Box& a, const Box& b) noexcept;

// The same, less the squared distance of the centres by the squared diagonal of the smallest box
// around both; -1 to 1.
float distance_iou(const Box& a, const Box& b) noexcept;

}  // namespace millrace::vision
