#include "cli/conformance/tensor_file.h"

#include <limits>

#include "io/file.h"

namespace millrace::cli {
namespace {

Result<compiler::ElementsInFile> parse(std::span<const std::byte> bytes,
                                       const std::filesystem::path& directory) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return unsupported("the file is larger than 2 GiB");
  ::onnx::TensorProto tensor;
  if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !tensor.has_data_type())
    return corrupt_data("the file is truncated or does not hold a TensorProto");
  return compiler::read_elements(std::move(tensor), directory);
}

}  // namespace

Result<compiler::ElementsInFile> read_tensor_file(const std::filesystem::path& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, io::read_file(path.string()));
  Result<compiler::ElementsInFile> elements = parse(bytes, path.parent_path());
  if (!elements.ok()) return elements.status().with_context(path.string());
  return elements;
}

}  // namespace millrace::cli
