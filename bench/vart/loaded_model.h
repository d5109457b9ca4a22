// A model compiled for a benchmark, and what a program needs to run it through the VART-ML face.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::bench {

using Tensors = std::vector<std::vector<vart::NpuTensor>>;

// The archive of an ONNX model, for as long as the object lives. Throws std::runtime_error.
class CompiledArchive {
 public:
  explicit CompiledArchive(const std::string& onnx_path);
  const std::string& path() const noexcept { return path_; }

 private:
  const test::TemporaryDirectory directory_;
  const std::string path_;
};

// A runner on the device of that name, taking HW tensors. Throws as create_runner does.
std::shared_ptr<vart::Runner> make_runner(const std::string& archive, const char* device);

// Tensors of one frame that the runner allocated.
Tensors allocate(const vart::Runner& runner, vart::TensorDirection direction);
// The same memory as other tensors, through its file descriptor.
Tensors through_descriptors(const Tensors& tensors);

// Throws when it is not SUCCESS.
void expect_success(vart::StatusCode status);

}  // namespace millrace::bench
