// NativeJob: buffers for one frame of a model, and the arguments of a job of the native API. Every
// tensor is bound in the view that no device has to convert. load_native() loads a model from an
// archive, as a program does.
#pragma once

#include <string>
#include <vector>

#include "graph/archive/codec.h"
#include "graph/compiled_model.h"
#include "millrace/millrace.hpp"
#include "model/archive_writer.h"
#include "tests/support/temporary_directory.h"

namespace millrace::bench {

inline Result<Model> load_native(const Device& device, const graph::CompiledModel& model) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("model.rai");
  const Status written =
      model::write_archive(graph::encode(model), path, model::ArchiveForm::kFile);
  return written.ok() ? device.load(path) : written;
}

class NativeJob {
 public:
  explicit NativeJob(const Model& model) {
    for (const TensorInfo& info : model.inputs()) inputs_.push_back(bind(info));
    for (const TensorInfo& info : model.outputs()) outputs_.push_back(bind(info));
  }

  JobArgs args() const { return {.inputs = inputs_, .outputs = outputs_}; }

 private:
  static TensorArg bind(const TensorInfo& info) {
    const Buffer buffer = *Buffer::allocate((info.hw ? *info.hw : info.cpu).bytes);
    return {buffer, info.hw ? View::kHw : View::kCpu};
  }

  std::vector<TensorArg> inputs_, outputs_;
};

}  // namespace millrace::bench
