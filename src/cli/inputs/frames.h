// Runs any number of frames through a session and returns the outputs as numbers, for `run` and
// `golden`.
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
  std::vector<std::vector<std::byte>> bytes;  // by input index, frame after frame, in one view
  std::vector<graph::Boundary> boundaries;    // the model's inputs, the open ones settled
};

// Reads the files of all inputs. An open input has the shape that is given, or else that of its
// .npy file. kInvalidArgument unless they hold equally many frames.
Result<LoadedInputs> load_inputs(const graph::CompiledModel& model, device::View view,
                                 const std::vector<InputFile>& files, const GivenShapes& shapes,
                                 const io::PictureOptions& picture);

// Runs all frames, a job per batch; the outputs of frame f are those of [f / batch].
Result<std::vector<JobBuffers>> run_frames(runtime::Session& session, const LoadedInputs& loaded,
                                           device::View input_view, device::View output_view);

// The values of one frame of a boundary tensor as floats, in CPU order, whatever the view.
Result<std::vector<float>> values_of(const graph::Boundary& boundary, device::View view,
                                     const std::byte* data);

}  // namespace millrace::cli
