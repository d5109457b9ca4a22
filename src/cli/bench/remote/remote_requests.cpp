#include "cli/bench/remote/remote_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "cli/inputs/frames.h"
#include "cli/inputs/input_files.h"
#include "cli/inputs/open_tensors.h"

namespace millrace::cli {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of all requests
constexpr device::View kView = device::View::kCpu;

using Bytes = std::vector<std::byte>;

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// Random elements: about one for floating point, and 0 or 1 for integers, which may be indices.
class Elements {
 public:
  Bytes of(const tensor::TensorDesc& desc) {
    Bytes bytes(desc.bytes());
    for (size_t at = 0; at < bytes.size(); at += size_of(desc.type))
      put_next(desc.type, bytes.data() + at);
    return bytes;
  }

 private:
  void put_next(DataType type, std::byte* at) {
    if (type == DataType::kFloat32) return put(at, static_cast<float>(normal_(random_)));
    if (type == DataType::kFloat64) return put(at, normal_(random_));
    const auto bits = static_cast<uint32_t>(random_());
    // From 1 to 2: the exponent of one, and a random mantissa.
    if (type == DataType::kFp16) return put(at, static_cast<uint16_t>(0x3C00 | (bits & 0x3FF)));
    if (type == DataType::kBf16) return put(at, static_cast<uint16_t>(0x3F80 | (bits & 0x7F)));
    // The lowest byte; the others are zero.
    put(at, static_cast<uint8_t>(bits & (type == DataType::kUint8 ? 0xFF : 1)));
  }

  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

Status too_large() {
  return invalid_argument("the inputs of all requests would be larger than 1 GiB");
}

// Returns the shape with 1 for each dimension that requests choose.
std::vector<uint32_t> least(std::vector<uint32_t> shape) {
  std::ranges::replace(shape, kOpenDimension, 1U);
  return shape;
}

Result<std::vector<std::string>> random_request(const RemoteServer& server,
                                                const RemoteModel& model, GivenShapes shapes) {
  for (const graph::Boundary& input : model.described.inputs)
    shapes.try_emplace(input.cpu.name, least(input.cpu.shape));
  MILLRACE_ASSIGN_OR_RETURN(const auto inputs, settled_inputs(model.described, shapes));
  Elements random;
  uint64_t left = kMostBytes;
  std::vector<Bytes> elements;
  for (const graph::Boundary& input : inputs) {
    if (input.cpu.bytes() > left) return too_large();
    left -= input.cpu.bytes();
    elements.push_back(random.of(input.cpu));
  }
  const std::vector<std::span<const std::byte>> bytes(elements.begin(), elements.end());
  return std::vector{request_text(server, model, inputs, bytes)};
}

// Adds the shapes of the inputs whose files do not say them.
Status add_shapes(const RemoteModel& model, const std::vector<InputFile>& files,
                  GivenShapes& shapes) {
  for (const InputFile& file : files) {
    MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(file.path));
    const tensor::TensorDesc& input = model.described.inputs[file.input].cpu;
    if (kind != FileKind::kArray) shapes.try_emplace(input.name, least(input.shape));
  }
  return {};
}

Result<std::vector<std::string>> requests_of(const RemoteServer& server, const RemoteModel& model,
                                             const LoadedInputs& loaded) {
  std::vector<std::string> requests;
  std::vector<std::span<const std::byte>> bytes(loaded.boundaries.size());
  for (size_t frame = 0; frame < loaded.frames; ++frame) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      const size_t size = loaded.boundaries[i].cpu.bytes();
      bytes[i] = std::span(loaded.bytes[i]).subspan(frame * size, size);
    }
    requests.push_back(request_text(server, model, loaded.boundaries, bytes));
  }
  return requests;
}

}  // namespace

Result<std::vector<std::string>> requests_for(const RemoteServer& server, const RemoteModel& model,
                                              const RequestData& data) {
  MILLRACE_ASSIGN_OR_RETURN(GivenShapes shapes, parse_shapes(model.described, data.shapes));
  if (data.inputs.empty()) return random_request(server, model, std::move(shapes));
  MILLRACE_ASSIGN_OR_RETURN(const auto files, resolve_inputs(model.described, data.inputs));
  MILLRACE_RETURN_IF_ERROR(add_shapes(model, files, shapes));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs loaded,
                            load_inputs(model.described, kView, files, shapes, data.picture));
  uint64_t all = 0;
  for (const Bytes& bytes : loaded.bytes) all += bytes.size();
  if (all > kMostBytes) return too_large();
  return requests_of(server, model, loaded);
}

}  // namespace millrace::cli
