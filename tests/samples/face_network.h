// YuNet as programs for the board know detectors: with one output, that lists boxes as YOLOX does.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/compiler/onnx_builder.h"
#include "tests/support/test_models.h"

namespace millrace::test {

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The bytes of the ONNX file: the maps of each stride, which are apart in YuNet, side by side, and
// all strides in one list. Requirement: the test models are beside the project.
inline std::string yunet_with_one_list() {
  compiler::test::Model model;
  EXPECT_TRUE(model.proto.ParseFromString(bytes_of(*test_model("models/yunet_n_320_320.onnx"))));
  const compiler::test::Attributes channels = {{"axis", 2}}, cells = {{"axis", 1}};
  for (const std::string stride : {"8", "16", "32"})
    model.node("Concat", {"bbox_" + stride, "obj_" + stride, "cls_" + stride}, {"boxes_" + stride},
               channels);
  model.node("Concat", {"boxes_8", "boxes_16", "boxes_32"}, {"boxes"}, cells);
  model.proto.mutable_graph()->clear_output();
  model.output("boxes");
  return model.bytes();
}

}  // namespace millrace::test
