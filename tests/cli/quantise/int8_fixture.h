// `millrace compile --precision int8` of the shipped network, and what it writes on the way.
#pragma once

#include <onnx/onnx_pb.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {

class Int8Test : public CliTest {
 protected:
  // With the pictures that come with the network.
  ProgramResult quantise(std::vector<std::string> flags,
                         const std::string& model = kGlyphsOnnx) const {
    flags.insert(flags.begin(), {"compile", model, "-o", file("int8.rai"), "--precision", "int8",
                                 "--calibrate", kGlyphsFolder + "calibration_images.npy",
                                 "--calibrate-samples", samples_, "--scale", "0.0039215686"});
    return millrace(flags);
  }

  static onnx::ModelProto read_onnx(const std::string& path) {
    onnx::ModelProto model;
    std::ifstream stream(path, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&stream)) << path;
    return model;
  }

  // The network as --emit-qdq writes it.
  onnx::ModelProto emitted(std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--emit-qdq", file("qdq.onnx")});
    const ProgramResult result = quantise(std::move(flags));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_onnx(file("qdq.onnx"));
  }

  std::string samples_ = "16";  // enough for the ranges of this network
};

}  // namespace millrace::test
