// Sample: the input tensors of one frame of a model, from labelled or calibration data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace millrace::quantise {

struct Sample {
  std::string name;                            // for messages
  std::vector<std::vector<std::byte>> inputs;  // by input of the model, as its CPU view
};

}  // namespace millrace::quantise
