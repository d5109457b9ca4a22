// Finds the output files that the VART-ML sample programs, or `millrace run`, write to a directory,
// and matches them with a model's outputs. A group of files has one file per output. The names are:
//
//   ml_vart              [iter<run>_]infer_out<output>-<type>_<AxBxC>_<name>.bin
//   vart_infer_async     output_p1_f<iteration>_<output>.bin, or output_f<iteration>_<output>.bin
//   vart_multi_tenancy,  ofm_model_<k>/<name>_<AxBxC>_<type>.bin
//   vart_multimodel_seq
//   millrace run         <name>.bin, or <name>.npy
//
// Type and shape in a name determine the view. If a name has neither, the size determines it:
// vart_infer_async writes one frame or a whole batch, `millrace run` any number of frames, in the
// CPU view if the size fits both. Arrays (.npy) are always in the CPU view, of any type that
// converts to its type. Files of other names are named one by one: the same rules hold for them as
// for those of `millrace run`. One thread.
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
  bool array = false;  // a .npy file
};

// Returns the files that are found. `view` decides if neither name nor size does. kNotFound if
// there is no such file. kInvalidArgument, with what was expected, lists every file that is missing
// from its group, whose size is not a multiple of a frame's, or that is not an output of this
// model. A directory ofm_model_<k> without an output of this model belongs to another model and is
// skipped.
Result<std::vector<DumpedFile>> find_dumped_files(const graph::CompiledModel& model,
                                                  const std::string& directory,
                                                  std::optional<device::View> view);

// Returns the files that are named as NAME=FILE or, if the model has one output, as FILE.
// kInvalidArgument, with the names of the outputs or with what was expected.
Result<std::vector<DumpedFile>> named_files(const graph::CompiledModel& model,
                                            const std::vector<std::string>& arguments,
                                            std::optional<device::View> view);

}  // namespace millrace::cli
