#include "cli/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/boundary_tensor.h"
#include "tensor/conversion.h"

namespace millrace::cli {

Result<LoadedInputs> load_inputs(const graph::CompiledModel& model, device::View view,
                                 const std::vector<InputFile>& files,
                                 const io::PictureOptions& picture) {
  LoadedInputs loaded;
  loaded.bytes.resize(model.inputs.size());
  for (const InputFile& file : files) {
    const graph::Boundary& boundary = model.inputs[file.input];
    auto& bytes = loaded.bytes[file.input];
    MILLRACE_ASSIGN_OR_RETURN(bytes, load_input(boundary, view, file.path, picture));
    const auto frames = static_cast<uint32_t>(bytes.size() / desc_in(boundary, view).bytes());
    if (loaded.frames != 0 && frames != loaded.frames)
      return invalid_argument(
          fmt::format("{} holds {} frames, another input {}", file.path, frames, loaded.frames));
    loaded.frames = frames;
  }
  return loaded;
}

Result<std::vector<JobBuffers>> run_frames(runtime::Session& session, const LoadedInputs& loaded,
                                           device::View input_view, device::View output_view) {
  const graph::CompiledModel& model = session.model();
  std::vector<JobBuffers> jobs;
  for (uint32_t first = 0; first < loaded.frames; first += model.batch_size) {
    const uint32_t frames = std::min(model.batch_size, loaded.frames - first);
    MILLRACE_ASSIGN_OR_RETURN(JobBuffers buffers,
                              JobBuffers::allocate(model, frames, input_view, output_view));
    for (uint32_t frame = 0; frame < frames; ++frame) {
      for (size_t i = 0; i < model.inputs.size(); ++i) {
        const size_t bytes = desc_in(model.inputs[i], input_view).bytes();
        std::memcpy(buffers.input(frame, i), loaded.bytes[i].data() + (first + frame) * bytes,
                    bytes);
      }
    }
    MILLRACE_RETURN_IF_ERROR(session.execute(buffers.bindings()));
    jobs.push_back(std::move(buffers));
  }
  return jobs;
}

Result<std::vector<float>> values_of(const graph::Boundary& boundary, device::View view,
                                     const std::byte* data) {
  std::vector<std::byte> cpu(boundary.cpu.bytes());
  if (view == device::View::kHw && boundary.hw) {
    MILLRACE_ASSIGN_OR_RETURN(const auto conversion,
                              tensor::Conversion::plan(boundary.cpu, *boundary.hw, boundary.quant));
    conversion.to_cpu(data, cpu.data());
  } else {
    std::memcpy(cpu.data(), data, cpu.size());
  }
  const tensor::TensorDesc flat = tensor::make_cpu_desc(
      boundary.cpu.name, boundary.cpu.type, {static_cast<uint32_t>(boundary.cpu.elements())});
  MILLRACE_ASSIGN_OR_RETURN(const auto as_float,
                            tensor::make_hw_desc(flat, tensor::DataType::kFloat32));
  MILLRACE_ASSIGN_OR_RETURN(const auto widen, tensor::Conversion::plan(flat, as_float, {}));
  std::vector<float> values(boundary.cpu.elements());
  widen.to_hw(cpu.data(), values.data());
  return values;
}

}  // namespace millrace::cli
