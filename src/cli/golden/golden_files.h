// The output files that the VART-ML sample programs write, found in a directory and matched with a
// model's outputs. The names, with one file per output in each group:
//
//   ml_vart              [iter<run>_]infer_out<output>-<type>_<AxBxC>_<name>.bin
//   vart_infer_async     output_p1_f<iteration>_<output>.bin, or output_f<iteration>_<output>.bin
//   vart_multi_tenancy,  ofm_model_<k>/<name>_<AxBxC>_<type>.bin
//   vart_multimodel_seq
//
// Type and shape in a name indicate the view. Where there are none, the size does: vart_infer_async
// writes one frame or a whole batch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

struct DumpedFile {
  std::string path;
  size_t output = 0;  // index of the model's output
  device::View view = device::View::kHw;
  uint32_t frames = 0;
};

// `view` decides where neither name nor size does. kNotFound when there is no such file;
// kInvalidArgument, naming every file that is missing from its group, has a size that is no number
// of frames, or is none of this model's, with what was expected. A directory ofm_model_<k> without
// any output of this model is another model's and passed over.
Result<std::vector<DumpedFile>> find_dumped_files(const graph::CompiledModel& model,
                                                  const std::string& directory,
                                                  std::optional<device::View> view);

}  // namespace millrace::cli
