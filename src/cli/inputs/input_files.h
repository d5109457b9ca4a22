// Input files of `millrace run`: raw tensors, NumPy arrays and pictures into a model's input
// buffers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "io/npy.h"
#include "io/picture.h"
#include "runtime/jobs/job.h"

namespace millrace::cli {

struct InputFile {
  size_t input;  // index of the model's input
  std::string path;
};

// Resolves NAME=FILE arguments, or a bare FILE where the model has one input. Every input must be
// named once; the message lists the model's input names otherwise.
Result<std::vector<InputFile>> resolve_inputs(const graph::CompiledModel& model,
                                              const std::vector<std::string>& arguments);

// The view in which raw files hold whole frames, where the user has not said it.
// kInvalidArgument, naming the first file and the sizes of its frames, when neither view fits all
// of them, or both do and differ.
Result<device::View> find_view(const graph::CompiledModel& model,
                               const std::vector<InputFile>& files);

// The kind of a file's content, told by the extension of its name: a picture (.jpg, .png, ...), an
// array (.npy), or the raw bytes of a view.
enum class FileKind { kPicture, kArray, kRaw };
FileKind kind_of(const std::string& path);

// Whether the input is one that pictures fill: NCHW, one picture in a frame.
bool takes_pictures(const tensor::TensorDesc& cpu);

// The options with the size of the input; kInvalidArgument where it takes no pictures.
Result<io::PictureOptions> sized_for(const tensor::TensorDesc& cpu, const std::string& path,
                                     io::PictureOptions options);

// The planes of a picture in the type of the CPU view.
Result<std::vector<std::byte>> typed_planes(const std::vector<float>& planes,
                                            const tensor::TensorDesc& cpu);

// Whether an array is one frame of the input, or a stack of them along a leading dimension.
bool holds_frames(const io::Array& array, const tensor::TensorDesc& cpu);

// Its frames in the type of the CPU view; kInvalidArgument, naming the file, where it holds none.
Result<std::vector<std::byte>> frames_of(const io::Array& array, const tensor::TensorDesc& cpu,
                                         const std::string& path);

// The dimensions of an array in a .npy file; nothing for other files, which do not say theirs.
Result<std::optional<std::vector<uint32_t>>> array_shape(const std::string& path);

// The bytes of one or more frames of an input in `view`: a .bin file is taken as it is, in that
// view; .npy (the CPU view's type, or UINT8 and others widened exactly to float) and pictures are
// converted from the CPU view. The size of the result is a positive multiple of the frame's, and 0
// where that is 0. Requirement: the boundary is not open.
Result<std::vector<std::byte>> load_input(const graph::Boundary& boundary, device::View view,
                                          const std::string& path,
                                          const io::PictureOptions& picture);

}  // namespace millrace::cli
