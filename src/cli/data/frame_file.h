// FrameFile: one file with frames of one input of a model: a picture, a .npy array or raw bytes.
// Movable; to be read from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "io/npy.h"
#include "io/picture.h"

namespace millrace::cli {

class FrameFile {
 public:
  // Whether the name is that of a file which data sets take from a folder.
  static bool is_taken(const std::string& path);

  // Reads the file, except for a picture, which frame() decodes. An array has the shape of the
  // input or of a stack of such frames and any type that converts; or, where the input takes
  // pictures, it is UINT8 [N,H,W] or [N,H,W,C] with C 1 (grey) or 3 (R, G, B): a stack of pictures
  // that are preprocessed as those of files. Other files are frames of the CPU view as they are.
  // Requirement: the boundary is not open. Errors name the file.
  static Result<FrameFile> open(const graph::Boundary& boundary, const std::string& path,
                                const io::PictureOptions& picture);

  size_t frames() const noexcept { return frames_; }

  // The bytes of a frame in the CPU view. Requirement: index < frames().
  Result<std::vector<std::byte>> frame(size_t index) const;

  // A small PNG of a picture as it was before preprocessing (io::png_thumbnail); none of a frame
  // that is no picture. Requirement: index < frames().
  Result<std::optional<std::vector<std::byte>>> thumbnail(size_t index, uint32_t side) const;

 private:
  enum class Kind { kPicture, kPictureStack, kTensors };

  FrameFile(graph::Boundary boundary, std::string path, io::PictureOptions picture);
  Status read_array();
  Status read_raw();
  vision::SourcePicture stacked_picture(size_t index) const;

  graph::Boundary boundary_;
  std::string path_;
  io::PictureOptions picture_;
  Kind kind_ = Kind::kPicture;
  size_t frames_ = 1;
  io::Array stack_;               // kPictureStack
  std::vector<std::byte> bytes_;  // kTensors: frame after frame
};

}  // namespace millrace::cli
