// FrameFile: one file with frames of one input of a model, which is a picture, a .npy array or raw
// bytes. Movable. Several threads may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "io/npy.h"
#include "io/pictures/picture.h"

namespace millrace::cli {

class FrameFile {
 public:
  // Whether data sets take this file from a folder: a picture, an array or .bin.
  static bool is_taken(const std::string& path);

  // Reads the file, unless it is a picture, which frame() decodes. An array has the shape of the
  // input, or of a stack of such frames, and any type that can be converted. If the input takes
  // pictures, an array may also be UINT8 [N,H,W] or [N,H,W,C], with C 1 (grey) or 3 (RGB): a stack
  // of pictures, preprocessed like those of files. Other files have frames as bytes of the CPU
  // view. Requirement: the boundary is not open. Errors name the file.
  static Result<FrameFile> open(const graph::Boundary& boundary, const std::string& path,
                                const io::PictureOptions& picture);

  size_t frames() const noexcept { return frames_; }
  // Whether the frames are pictures, which are preprocessed.
  bool holds_pictures() const noexcept;

  // Returns the bytes of a frame in the CPU view. Requirement: index < frames().
  Result<std::vector<std::byte>> frame(size_t index) const;

  // Returns a small PNG of a picture as it was before preprocessing (io::png_thumbnail); nothing if
  // the frame is not a picture. Requirement: index < frames().
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
  std::vector<std::byte> bytes_;  // kTensors: the frames, one after another
};

}  // namespace millrace::cli
