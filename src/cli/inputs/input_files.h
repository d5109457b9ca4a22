// Reads input files of a model: raw bytes of a view, NumPy arrays (.npy) and pictures, converted to
// the type and layout of an input. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "io/npy.h"
#include "io/pictures/picture.h"
#include "runtime/jobs/job.h"

namespace millrace::cli {

struct InputFile {
  size_t input;  // index of the model's input
  std::string path;
};

// Returns kInvalidArgument that says which inputs the model has, and which of them was probably
// meant.
Status no_such_input(const graph::CompiledModel& model, const std::string& name);

// Resolves one argument of `option`: NAME=FILE or, if the model has one input, FILE.
// kInvalidArgument, with the option, for a name that the model does not have.
Result<InputFile> resolve_input(const graph::CompiledModel& model, const char* option,
                                const std::string& argument);

// Resolves NAME=SOURCE arguments, or a plain SOURCE if the model has one input. A source is a file,
// or a folder, which stands for the files that DataSet takes from it (data/data_set.h). The frames
// of several sources of one input follow each other. kInvalidArgument, with the names of the
// model's inputs, unless each input has a source.
Result<std::vector<InputFile>> resolve_inputs(const graph::CompiledModel& model,
                                              const std::vector<std::string>& arguments);

// Finds the view of raw files by their sizes: each must hold whole frames in it. kInvalidArgument,
// with a file and the sizes of its frames, if neither view fits all files, or if both fit and
// differ.
Result<device::View> find_view(const graph::CompiledModel& model,
                               const std::vector<InputFile>& files);

// The kind of a file: a picture, an array (.npy), or otherwise raw bytes of a view. Files named
// .bin or .raw are raw. Others are recognised by their first bytes and, where these say nothing, by
// the extension of their names. kUnsupported for a format that is known and not read, such as GIF.
enum class FileKind { kPicture, kArray, kRaw };
Result<FileKind> kind_of(const std::string& path);

// Whether a picture can be a frame of the input: its layout is NCHW with N = 1.
bool takes_pictures(const tensor::TensorDesc& cpu);

// Returns the options with the size of the input; kInvalidArgument if it takes no pictures.
Result<io::PictureOptions> sized_for(const tensor::TensorDesc& cpu, const std::string& path,
                                     io::PictureOptions options);

// Reads a picture as one frame of the CPU view. Errors name the file.
Result<std::vector<std::byte>> picture_frame(const tensor::TensorDesc& cpu, const std::string& path,
                                             const io::PictureOptions& options);

// Reads a file that has whole frames as bytes of this description, and at least one. Errors name
// the file.
Result<std::vector<std::byte>> raw_frames(const tensor::TensorDesc& desc, const std::string& path);

// Converts the planes of a picture to the type of the CPU view.
Result<std::vector<std::byte>> typed_planes(const std::vector<float>& planes,
                                            const tensor::TensorDesc& cpu);

// Whether an array is one frame of the input, or a stack of them along a leading dimension.
bool holds_frames(const io::Array& array, const tensor::TensorDesc& cpu);

// Converts the frames of an array to the type of the CPU view. kInvalidArgument, with the file, if
// its shape does not fit.
Result<std::vector<std::byte>> frames_of(const io::Array& array, const tensor::TensorDesc& cpu,
                                         const std::string& path);

// Returns the shape of the array in a .npy file; nothing for other files, which have no shape.
Result<std::optional<std::vector<uint32_t>>> array_shape(const std::string& path);

struct LoadedFile {
  std::vector<std::byte> bytes;
  bool pictures = false;  // whether the frames were pictures, which are preprocessed
};

// Reads one or more frames of an input, as bytes of `view`. A raw file must hold bytes of that
// view. All other files are read as FrameFile reads them (data/frame_file.h), and converted. The
// size of the result is a positive multiple of the frame's size, or 0 if that is 0. Requirement:
// the boundary is not open.
Result<LoadedFile> load_input(const graph::Boundary& boundary, device::View view,
                              const std::string& path, const io::PictureOptions& picture);

}  // namespace millrace::cli
