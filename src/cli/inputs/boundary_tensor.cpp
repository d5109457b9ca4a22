#include "cli/inputs/boundary_tensor.h"

#include <algorithm>

#include "base/printable.h"

namespace millrace::cli {

const tensor::TensorDesc& desc_in(const graph::Boundary& boundary, device::View view) {
  return view == device::View::kHw && boundary.hw ? *boundary.hw : boundary.cpu;
}

std::string file_name_part(std::string tensor_name) {
  std::replace(tensor_name.begin(), tensor_name.end(), '/', '-');
  if (tensor_name.starts_with('-')) tensor_name.erase(0, 1);
  // A file name consists of printable text only, whatever name the model gives.
  return printable(tensor_name);
}

}  // namespace millrace::cli
