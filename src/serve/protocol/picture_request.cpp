#include "serve/protocol/picture_request.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

constexpr uint32_t kClassesOfPictures = 5;
// A picture of a few kilobytes may stand for gigabytes of pixels.
constexpr uint64_t kMostPixels = uint64_t{1} << 26;

// The decoders read files, so the body becomes one in memory.
Result<UniqueFd> file_of(std::span<const std::byte> bytes) {
  UniqueFd file(memfd_create("millrace-picture", MFD_CLOEXEC));
  if (!file) return io_error("create a file in memory", errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write the picture to memory", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return file;
}

bool takes_picture(const TensorInfo& info) {
  const ViewInfo& view = info.cpu;
  return !view.is_open && view.type == DataType::kFloat32 && view.shape.size() == 4 &&
         view.shape[0] == 1 && (view.shape[1] == 1 || view.shape[1] == 3);
}

Status check_picture_model(const Model& model, const io::PictureOptions* options) {
  if (options == nullptr)
    return invalid_argument(
        "the server was not told how pictures are preprocessed: start it with --normalize");
  if (model.inputs().size() != 1 || !takes_picture(model.inputs()[0]))
    return invalid_argument(
        "a picture is the input of a model that has one, of FP32 and of the shape [1,3,H,W] or "
        "[1,1,H,W]");
  return {};
}

Status set_picture(const HttpRequest& request, const TensorInfo& info, io::PictureOptions options,
                   InputTensor& input) {
  options.channels = info.cpu.shape[1];
  options.height = info.cpu.shape[2];
  options.width = info.cpu.shape[3];
  options.max_pixels = kMostPixels;
  MILLRACE_ASSIGN_OR_RETURN(const UniqueFd file, file_of(request.body.bytes()));
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  const Result<std::vector<float>> planes = io::load_picture(path, options);
  if (!planes.ok()) return {planes.status().code(), "the body is no picture that can be read"};
  if (!MemoryBlock::allocate(info.cpu.bytes, 0, input.own))
    return {StatusCode::kOutOfMemory, "there is not enough memory for the input"};
  std::memcpy(input.own.data(), planes->data(), info.cpu.bytes);
  input.bytes = input.own.bytes();
  return {};
}

}  // namespace

bool is_picture(const HttpRequest& request) {
  const auto type = request.field("Content-Type");
  return type && type->starts_with("image/");
}

Result<InferRequest> read_picture_request(HttpRequest request, const Model& model,
                                          const io::PictureOptions* options) {
  MILLRACE_RETURN_IF_ERROR(check_picture_model(model, options));
  InferRequest bound;
  MILLRACE_ASSIGN_OR_RETURN(bound.deadline, deadline_of_field(request));
  MILLRACE_RETURN_IF_ERROR(
      set_picture(request, model.inputs()[0], *options, bound.inputs.emplace_back()));
  for (size_t i = 0; i < model.outputs().size(); ++i)
    if (has_json_form(model.outputs()[i].cpu.type))
      bound.outputs.push_back({.index = i, .classes = kClassesOfPictures});
  return bound;
}

}  // namespace millrace::serve
