// A picture through a detector as programs of VART-X do it: picture file, PreProcess, Runner,
// outputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "tests/support/temporary_directory.h"
#include "vart/vart_device.hpp"
#include "vart/vart_inferresult_types.hpp"
#include "vart/vart_preprocess_types.hpp"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {

class VartChain {
 public:
  // The preprocessing of the network: pictures are stretched to its size.
  struct Pictures {
    bool is_bgr = false;
    float mean = 0;
    float scale = 1;
  };
  // The elements of each output in the CPU view, by name.
  using Outputs = std::map<std::string, std::vector<float>>;

  // Compiles the model. `view` is that of the input: HW without a copy, or CPU. Throws what the
  // faces throw.
  VartChain(const std::string& onnx, graph::Precision precision, vart::TensorType view,
            const Pictures& pictures);

  Outputs run(const std::string& picture_file);

  // The scaling of the last picture, for InferResult::transform.
  vart::InferResScaleInfo scale_info() const;

 private:
  vart::VideoFormat input_format() const;
  vart::PreProcessInfo preprocess_info() const;

  const TemporaryDirectory directory_;
  const Pictures pictures_;
  const std::shared_ptr<vart::Device> device_;
  std::shared_ptr<vart::Runner> runner_;
  vart::NpuTensorInfo input_;
  uint32_t height_ = 0, width_ = 0;
  vart::PreProcessTypeMeta geometry_;
};

}  // namespace millrace::test
