#include "compiler/onnx/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "lowering/evaluate/constant_data.h"

namespace millrace::compiler {
namespace {

namespace fs = std::filesystem;

// The location of a tensor's data as the file states it. A length of -1 means that none is stated.
struct ExternalRange {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;
};

Status parse_number(const std::string& key, const std::string& text, int64_t* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  if (error == std::errc() && stop == end && *number >= 0) return {};
  return corrupt_data(fmt::format("external data: {} '{}' is not a valid size", key, text));
}

Result<ExternalRange> parse_range(const ::onnx::TensorProto& tensor) {
  ExternalRange range;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") range.location = entry.value();
    if (entry.key() == "offset") {
      MILLRACE_RETURN_IF_ERROR(parse_number(entry.key(), entry.value(), &range.offset));
    }
    if (entry.key() == "length") {
      MILLRACE_RETURN_IF_ERROR(parse_number(entry.key(), entry.value(), &range.length));
    }
  }
  if (range.location.empty()) return corrupt_data("external data has no location");
  return range;
}

bool is_inside(const fs::path& path, const fs::path& directory) {
  const fs::path relative = path.lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

// Returns the path of the file with links resolved, so that a link cannot lead out of the
// directory.
Result<fs::path> resolve(const std::string& location, const fs::path& directory) {
  std::error_code error;
  const fs::path base = fs::weakly_canonical(directory.empty() ? fs::path(".") : directory, error);
  if (error) return io_error(directory.string(), error.value());
  if (fs::path(location).is_absolute()) {
    return invalid_argument(
        fmt::format("external data '{}' must lie beside the model, not at a fixed path", location));
  }
  const fs::path path = fs::weakly_canonical(base / location, error);
  if (error) return io_error(location, error.value());
  if (!is_inside(path, base)) {
    return invalid_argument(
        fmt::format("external data '{}' leads out of the model's folder", location));
  }
  return path;
}

}  // namespace

Result<ExternalData> read_external_data(const ::onnx::TensorProto& tensor,
                                        const fs::path& directory, size_t bytes) {
  MILLRACE_ASSIGN_OR_RETURN(const ExternalRange range, parse_range(tensor));
  MILLRACE_ASSIGN_OR_RETURN(const fs::path path, resolve(range.location, directory));
  if (range.length >= 0 && static_cast<size_t>(range.length) != bytes) {
    return corrupt_data(fmt::format("external data '{}' has {} bytes where shape and type need {}",
                                    range.location, range.length, bytes));
  }
  std::error_code error;
  const uintmax_t file_bytes = fs::file_size(path, error);
  if (error) return io_error(fmt::format("external data '{}'", path.string()), error.value());
  const auto offset = static_cast<uintmax_t>(range.offset);
  if (offset > file_bytes || bytes > file_bytes - offset) {
    return corrupt_data(fmt::format("external data '{}' ends before byte {} of the tensor",
                                    path.string(), offset + bytes));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const lowering::MutableConstant storage,
      lowering::make_constant(tensor::DataType::kUint8, {static_cast<int64_t>(bytes)}));
  std::ifstream file(path, std::ios::binary);
  file.seekg(range.offset);
  file.read(reinterpret_cast<char*>(storage.data), static_cast<std::streamsize>(bytes));
  if (!file) return Status(StatusCode::kIoError, fmt::format("cannot read '{}'", path.string()));
  return ExternalData{storage.value.constant->bytes, storage.value.constant->owner};
}

}  // namespace millrace::compiler
