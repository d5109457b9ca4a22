// Networks whose files have their topology only, with weights that follow from a seed.
//
// The files called light_* state every weight as a constant number, so that their outputs hardly
// depend on what is computed. Here each weight is a tensor of pseudorandom numbers that follow from
// its name alone: another runtime, given the same file, must come to the same outputs.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::test {

struct SeededModel {
  std::string onnx;          // the content of the model file
  std::vector<float> input;  // of its only input
};

// Element i of a tensor is one of 2^24 equally spaced numbers, from the top bits of number i of
// SplitMix64, whose state begins as the 64-bit FNV-1a hash of the tensor's name. They lie in
//   [-1, 1)                for the input,
//   [-b, b), b = sqrt(6/n) for weights, n elements of which make one element of a result: their
//                          variance keeps that of activations behind a Relu,
//   [0.75, 1.25)           for what scales a channel: a factor of BatchNormalization or Mul, and a
//                          variance,
//   [-0.1, 0.1)            for all else of one dimension.
// A Softmax at the end is left out, since it hides errors in all but the largest elements.
Result<SeededModel> seed_model(const std::string& path);

}  // namespace millrace::test
