#include "bench/peers/ort/model_bytes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "io/file.h"

namespace millrace::bench {

Result<std::string> model_bytes(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const auto content, io::read_file(path));
  onnx::ModelProto model;
  if (!model.ParseFromArray(content.data(), static_cast<int>(content.size())))
    return corrupt_data(path + " is not an ONNX file");
  std::set<std::string> constants;
  for (const auto& tensor : model.graph().initializer()) constants.insert(tensor.name());
  auto& inputs = *model.mutable_graph()->mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const auto& input) { return constants.contains(input.name()); }),
               inputs.end());
  // Since version 4 of the ONNX IR, initializers need not be listed as inputs.
  constexpr int64_t kConstantsAlone = 4;
  model.set_ir_version(std::max<int64_t>(model.ir_version(), kConstantsAlone));
  return model.SerializeAsString();
}

}  // namespace millrace::bench
