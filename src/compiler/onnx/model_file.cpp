#include "compiler/onnx/model_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>

#include "model/foreign_file.h"

namespace millrace::compiler {
namespace {

// Limit of the protobuf encoding.
constexpr size_t kMaxModelBytes = 0x7fffffff;

Status too_large() {
  return unsupported("the file is larger than 2 GiB; store its weights as external data");
}

}  // namespace

Status parse_model(std::string_view content, ::onnx::ModelProto* model) {
  if (content.size() > kMaxModelBytes) return too_large();
  if (model->ParsePartialFromArray(content.data(), static_cast<int>(content.size())) &&
      model->has_graph()) {
    return {};
  }
  const auto bytes = std::as_bytes(std::span(content));
  if (model::looks_like_onnx(bytes))
    return corrupt_data("this begins like an ONNX model, but is damaged or has no graph");
  return corrupt_data("this is not an ONNX model; " + model::describe_foreign(bytes));
}

Result<size_t> read_model_file(const std::string& path, ::onnx::ModelProto* model) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return io_error("open", error.value());
  if (bytes > kMaxModelBytes) return too_large();
  std::string content(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error("open", errno);
  file.read(content.data(), static_cast<std::streamsize>(bytes));
  if (!file) return Status(StatusCode::kIoError, "cannot be read");
  MILLRACE_RETURN_IF_ERROR(parse_model(content, model));
  return static_cast<size_t>(bytes);
}

}  // namespace millrace::compiler
