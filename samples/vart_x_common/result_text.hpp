// Results as lines of text.
#pragma once

#include <iosfwd>

#include "vart/vart_inferresult.hpp"

namespace samples {

// Prints the result of one node, not those below it:
//
//   classification: label="espresso" index=967 score=0.93     a line per class, best first
//   detection: label="face" class=0 score=0.94 x=112 y=36 width=57 height=74
//   segmentation: 128x96                                       a line per map
//
// Nothing for a node without a result.
void print_result(std::ostream& out, vart::InferResult& result);

}  // namespace samples
