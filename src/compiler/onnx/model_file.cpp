#include "compiler/onnx/model_file.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>

#include "model/files/foreign_file.h"

namespace millrace::compiler {
namespace {

// The limit of the protobuf encoding.
constexpr size_t kMaxModelBytes = 0x7fffffff;

Status too_large() {
  return unsupported("the file is larger than 2 GiB; store its weights as external data");
}

Status check_parsed(bool is_parsed, const ::onnx::ModelProto& model, std::string_view beginning) {
  if (is_parsed && model.has_graph()) return {};
  const auto bytes = std::as_bytes(std::span(beginning));
  if (model::looks_like_onnx(bytes))
    return corrupt_data("this begins like an ONNX model, but is damaged or has no graph");
  return corrupt_data("this is not an ONNX model; " + model::describe_foreign(bytes));
}

Status unreadable() {
  return Status(StatusCode::kIoError, "cannot be read");
}

// Reads enough to recognise the kind of the file, and rewinds.
Result<std::string> read_beginning(std::ifstream& file) {
  constexpr size_t kBytes = 4096;
  std::string beginning(kBytes, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(kBytes));
  beginning.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return unreadable();
  file.clear();
  file.seekg(0);
  return beginning;
}

}  // namespace

Status parse_model(std::string_view content, ::onnx::ModelProto* model) {
  if (content.size() > kMaxModelBytes) return too_large();
  const bool is_parsed =
      model->ParsePartialFromArray(content.data(), static_cast<int>(content.size()));
  return check_parsed(is_parsed, *model, content);
}

// The message is parsed from a stream, so that large weights are never in memory twice.
Result<size_t> read_model_file(const std::string& path, ::onnx::ModelProto* model) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return io_error("open", error.value());
  if (bytes > kMaxModelBytes) return too_large();
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error("open", errno);
  MILLRACE_ASSIGN_OR_RETURN(const std::string beginning, read_beginning(file));
  google::protobuf::io::IstreamInputStream stream(&file);
  const bool is_parsed = model->ParsePartialFromZeroCopyStream(&stream);
  if (file.bad()) return unreadable();
  MILLRACE_RETURN_IF_ERROR(check_parsed(is_parsed, *model, beginning));
  return static_cast<size_t>(bytes);
}

}  // namespace millrace::compiler
