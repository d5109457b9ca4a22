// Loads the frames of input files, runs them through a session, and converts outputs to floats, for
// the commands `run`, `golden` and `compare`.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "cli/inputs/input_files.h"
#include "cli/inputs/job_buffers.h"
#include "cli/inputs/open_tensors.h"
#include "runtime/session.h"

namespace millrace::cli {

struct LoadedInputs {
  uint32_t frames = 0;
  std::vector<std::string>
      names;  // by frame: the file of the first input, with an index if it has several
  std::vector<std::vector<std::byte>> bytes;  // by input: its frames, one after another, in a view
  std::vector<graph::Boundary> boundaries;    // the model's inputs, with the shapes of open ones
  std::vector<size_t> pictures;               // the inputs whose files are pictures
};

// Reads the files of all inputs, as `view`. An open input gets its shape from `shapes` or else from
// its .npy file. kInvalidArgument if inputs have different numbers of frames.
Result<LoadedInputs> load_inputs(const graph::CompiledModel& model, device::View view,
                                 const std::vector<InputFile>& files, const GivenShapes& shapes,
                                 const io::PictureOptions& picture);

// Runs all frames, one job per batch. The outputs of frame f are in the result at f / batch size,
// as its frame f % batch size.
Result<std::vector<JobBuffers>> run_frames(runtime::Session& session, const LoadedInputs& loaded,
                                           device::View input_view, device::View output_view);

// Converts one frame of a boundary tensor, given in `view`, to floats in the order of the CPU view.
Result<std::vector<float>> values_of(const graph::Boundary& boundary, device::View view,
                                     const std::byte* data);

// Returns the real numbers that the elements of a value stand for, which are others than these if
// the graph holds it as quantised integers. The elements are in the order of the CPU view.
std::vector<float> real_values(const graph::CompiledModel& model, const graph::Boundary& boundary,
                               std::vector<float> elements);

}  // namespace millrace::cli
