#include "cli/data/frame_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/inputs/input_files.h"
#include "io/pictures/thumbnail.h"

namespace millrace::cli {
namespace {

// Whether the array is UINT8 [N,H,W] or [N,H,W,C].
bool is_picture_stack(const io::Array& array) {
  if (array.type != tensor::DataType::kUint8) return false;
  if (array.shape.size() == 3) return true;
  return array.shape.size() == 4 && (array.shape[3] == 1 || array.shape[3] == 3);
}

}  // namespace

bool FrameFile::is_taken(const std::string& path) {
  const Result<FileKind> kind = kind_of(path);
  return kind.ok() && (*kind != FileKind::kRaw || path.ends_with(".bin"));
}

FrameFile::FrameFile(graph::Boundary boundary, std::string path, io::PictureOptions picture)
    : boundary_(std::move(boundary)), path_(std::move(path)), picture_(picture) {}

Result<FrameFile> FrameFile::open(const graph::Boundary& boundary, const std::string& path,
                                  const io::PictureOptions& picture) {
  FrameFile file(boundary, path, picture);
  MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(path));
  if (kind == FileKind::kPicture || takes_pictures(boundary.cpu)) {
    const Result<io::PictureOptions> sized = sized_for(boundary.cpu, path, picture);
    if (!sized.ok()) return sized.status();
    file.picture_ = *sized;
  }
  if (kind == FileKind::kArray) MILLRACE_RETURN_IF_ERROR(file.read_array());
  if (kind == FileKind::kRaw) MILLRACE_RETURN_IF_ERROR(file.read_raw());
  return file;
}

Status FrameFile::read_array() {
  MILLRACE_ASSIGN_OR_RETURN(io::Array array, io::read_npy(path_));
  if (!holds_frames(array, boundary_.cpu) && takes_pictures(boundary_.cpu) &&
      is_picture_stack(array)) {
    kind_ = Kind::kPictureStack;
    frames_ = array.bytes.empty() ? 0 : array.shape[0];
    stack_ = std::move(array);
    return {};
  }
  kind_ = Kind::kTensors;
  MILLRACE_ASSIGN_OR_RETURN(bytes_, frames_of(array, boundary_.cpu, path_));
  frames_ = bytes_.empty() ? 1 : bytes_.size() / boundary_.cpu.bytes();
  return {};
}

Status FrameFile::read_raw() {
  kind_ = Kind::kTensors;
  MILLRACE_ASSIGN_OR_RETURN(bytes_, raw_frames(boundary_.cpu, path_));
  frames_ = bytes_.empty() ? 1 : bytes_.size() / boundary_.cpu.bytes();
  return {};
}

vision::SourcePicture FrameFile::stacked_picture(size_t index) const {
  const uint32_t height = stack_.shape[1], width = stack_.shape[2];
  const uint32_t channels = stack_.shape.size() == 4 ? stack_.shape[3] : 1;
  const size_t stride = size_t{width} * channels;
  const auto* pixels = reinterpret_cast<const uint8_t*>(stack_.bytes.data());
  return {channels == 1 ? vision::SourceFormat::kGrey : vision::SourceFormat::kRgb,
          width,
          height,
          {pixels + index * height * stride},
          {stride}};
}

Result<std::vector<std::byte>> FrameFile::frame(size_t index) const {
  if (kind_ == Kind::kPicture) return picture_frame(boundary_.cpu, path_, picture_);
  if (kind_ == Kind::kPictureStack) {
    const Result<std::vector<float>> planes = io::planes_of(stacked_picture(index), picture_);
    if (!planes.ok()) return planes.status().with_context(fmt::format("{}[{}]", path_, index));
    return typed_planes(*planes, boundary_.cpu);
  }
  const size_t bytes = boundary_.cpu.bytes();
  const auto first = bytes_.begin() + static_cast<ptrdiff_t>(index * bytes);
  return std::vector<std::byte>(first, first + static_cast<ptrdiff_t>(bytes));
}

bool FrameFile::holds_pictures() const noexcept {
  return kind_ != Kind::kTensors;
}

Result<std::optional<std::vector<std::byte>>> FrameFile::thumbnail(size_t index,
                                                                   uint32_t side) const {
  if (kind_ == Kind::kTensors) return std::optional<std::vector<std::byte>>();
  auto png = kind_ == Kind::kPicture ? io::png_thumbnail(path_, side)
                                     : io::png_thumbnail(stacked_picture(index), side);
  if (!png.ok()) return png.status();
  return std::optional(*std::move(png));
}

}  // namespace millrace::cli
