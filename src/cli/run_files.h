// The files that `millrace run` writes: outputs, inputs that were made of pictures, and the picture
// with boxes. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/inputs/frames.h"
#include "cli/inputs/job_buffers.h"
#include "cli/supervision/output_sink.h"

namespace millrace::cli {

// The value of --output-format for arrays.
inline constexpr const char* kNpy = "npy";

// The name under which the picture with boxes is passed to the sink.
inline constexpr const char* kDrawnPicture = "draw.named";

// Checks the options for files with each other, without the model. kInvalidArgument if two files
// have the same path.
Status check_saved_inputs(const RunArguments& arguments);

// Returns the paths of the files that the command line names, for files_in().
NamedFiles named_files(const RunArguments& arguments);

// Returns the names of all files that a run of the model writes, for OutputSink::settle().
// kInvalidArgument if --save-input names an input that the model does not have, if its path
// contains
// '=', or if two files have the same path.
Result<std::vector<std::string>> files_of_run(const graph::CompiledModel& model,
                                              const RunArguments& arguments);

// Writes one file per output: all frames in order, as the bytes of `view` or as an array.
// Requirement: there is at least one frame.
Status write_outputs(const graph::CompiledModel& model, device::View view,
                     const std::vector<JobBuffers>& jobs, uint32_t frames,
                     const RunArguments& arguments, const OutputSink& sink);

// Writes the inputs that --save-input names, as the model reads them: all frames in order, as they
// are or, to a file that ends in .npy, as an array.
Status write_inputs(const graph::CompiledModel& model, const LoadedInputs& inputs,
                    const RunArguments& arguments, const OutputSink& sink);

}  // namespace millrace::cli
