// A model with open dimensions and profiles for APIs with static shapes.
#pragma once

#include <memory>
#include <utility>

#include "graph/compiled_model.h"
#include "graph/network/network.h"
#include "tensor/desc.h"

namespace millrace::test {

// Returns a Relu of [1,3,?,?] with the profiles "small", of 8 x 8, and "large", of 64 x 32.
inline graph::CompiledModel relu_with_profiles() {
  network::Network network;
  network.opsets = {{"", 17}};
  network.inputs = {
      {"x", tensor::DataType::kFloat32, true, {{1, ""}, {3, ""}, {-1, ""}, {-1, ""}}}};
  network.outputs = {{"y", tensor::DataType::kFloat32}};
  network.nodes = {{"relu", "", "Relu", {"x"}, {"y"}, {}}};
  graph::CompiledModel model;
  model.batch_size = 2;
  graph::Boundary input, output;
  input.cpu = tensor::make_cpu_desc("x", tensor::DataType::kFloat32,
                                    {1, 3, kOpenDimension, kOpenDimension});
  output.cpu = tensor::make_cpu_desc("y", tensor::DataType::kFloat32, {});
  input.open = output.open = true;
  model.inputs = {input};
  model.outputs = {output};
  model.network = std::make_shared<const network::Network>(std::move(network));
  model.profiles = {{"small", {{1, 3, 8, 8}}}, {"large", {{1, 3, 64, 32}}}};
  return model;
}

}  // namespace millrace::test
