#include "cli/inputs/random_inputs.h"

#include <random>
#include <vector>

#include "cli/inputs/boundary_tensor.h"
#include "tensor/conversion/conversion.h"

namespace millrace::cli {

Status fill_inputs(const std::vector<graph::Boundary>& inputs, device::View view,
                   const JobBuffers& buffers) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (uint32_t frame = 0; frame < buffers.bindings().frames; ++frame) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const tensor::TensorDesc& desc = desc_in(inputs[i], view);
      std::vector<float> values(desc.elements());
      for (float& value : values) value = normal(generator);
      const tensor::TensorDesc flat = tensor::make_cpu_desc("random", tensor::DataType::kFloat32,
                                                            {static_cast<uint32_t>(values.size())});
      MILLRACE_ASSIGN_OR_RETURN(const auto typed, tensor::make_hw_desc(flat, desc.type));
      MILLRACE_ASSIGN_OR_RETURN(const auto conversion, tensor::Conversion::plan(flat, typed, {}));
      conversion.to_hw(values.data(), buffers.input(frame, i));
    }
  }
  return {};
}

}  // namespace millrace::cli
