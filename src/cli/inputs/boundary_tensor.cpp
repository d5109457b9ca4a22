#include "cli/inputs/boundary_tensor.h"

#include <fmt/format.h>

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

std::vector<std::string> output_file_names(const graph::CompiledModel& model) {
  std::vector<std::string> names;
  for (const graph::Boundary& output : model.outputs) {
    const std::string name = file_name_part(output.cpu.name);
    std::string unique = name;
    for (int i = 2; std::find(names.begin(), names.end(), unique + ".bin") != names.end(); ++i)
      unique = fmt::format("{}.{}", name, i);
    names.push_back(unique + ".bin");
  }
  return names;
}

}  // namespace millrace::cli
