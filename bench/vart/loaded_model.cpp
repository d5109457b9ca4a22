#include "bench/vart/loaded_model.h"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"

namespace millrace::bench {
namespace {

void throw_unless_ok(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

}  // namespace

CompiledArchive::CompiledArchive(const std::string& onnx_path)
    : path_(directory_.file("model.rai")) {
  const Result<graph::CompiledModel> model = compiler::compile(onnx_path, {});
  throw_unless_ok(model.status());
  throw_unless_ok(model::write_archive(graph::encode(*model), path_, model::ArchiveForm::kFile));
}

std::shared_ptr<vart::Runner> make_runner(const std::string& archive, const char* device) {
  ::setenv("MILLRACE_DEVICE", device, 1);
  return vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, archive);
}

Tensors allocate(const vart::Runner& runner, vart::TensorDirection direction) {
  Tensors tensors(1);
  for (const vart::NpuTensorInfo& info : runner.get_tensors_info(direction, vart::TensorType::HW))
    tensors[0].push_back(runner.allocate_npu_tensor(info));
  return tensors;
}

Tensors through_descriptors(const Tensors& tensors) {
  Tensors imported(1);
  for (const vart::NpuTensor& tensor : tensors[0]) {
    int fd = tensor.export_buffer();
    imported[0].emplace_back(tensor.get_info(), &fd, vart::MemoryType::DMA_FD);
    ::close(fd);
  }
  return imported;
}

void expect_success(vart::StatusCode status) {
  if (status != vart::StatusCode::SUCCESS)
    throw std::runtime_error("a job ended with " + std::string(vart::to_string(status)));
}

}  // namespace millrace::bench
