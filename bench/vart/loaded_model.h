// A model that is compiled for a benchmark, and functions to run it through the VART-ML face.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::bench {

using Tensors = std::vector<std::vector<vart::NpuTensor>>;

// The archive of an ONNX model, in a temporary directory that lives as long as this object. Throws
// std::runtime_error.
class CompiledArchive {
 public:
  explicit CompiledArchive(const std::string& onnx_path);
  const std::string& path() const noexcept { return path_; }

 private:
  const test::TemporaryDirectory directory_;
  const std::string path_;
};

// Creates a runner on the device of that name. Throws as create_runner does.
std::shared_ptr<vart::Runner> make_runner(const std::string& archive, const char* device);

// Returns HW tensors of one frame, which the runner allocates.
Tensors allocate(const vart::Runner& runner, vart::TensorDirection direction);
// Returns tensors that share the memory of `tensors`, imported through file descriptors.
Tensors through_descriptors(const Tensors& tensors);

// Throws std::runtime_error if the status is not SUCCESS.
void expect_success(vart::StatusCode status);

}  // namespace millrace::bench
