#include "sources/source.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <opencv2/core/mat.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sources/y4m.hpp"
#include "vart_x_common/picture_file.hpp"

namespace fs = std::filesystem;

namespace {

using vart::VideoFormat;

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool is_among(const std::set<std::string>& extensions, const fs::path& path) {
  return extensions.count(extension_of(path)) != 0;
}

class PictureFiles : public Source {
 public:
  explicit PictureFiles(std::vector<fs::path> paths) : paths_(std::move(paths)) {}

  bool next(PictureBuffer& picture, std::string& name) override {
    if (next_ == paths_.size()) return false;
    const fs::path& path = paths_[next_++];
    name = path.filename().string();
    const cv::Mat pixels = samples::read_picture(path.string());
    const MappedPicture target(picture.resize(VideoFormat::BGR, pixels.cols, pixels.rows),
                               vart::DataMapFlags::WRITE);
    for (int row = 0; row < pixels.rows; ++row)
      std::memcpy(target.row(0, row), pixels.ptr(row), target.row_bytes());
    return true;
  }

 private:
  const std::vector<fs::path> paths_;
  std::size_t next_ = 0;
};

class RawFrames : public Source {
 public:
  RawFrames(const fs::path& path, VideoFormat format, PictureSize size)
      : name_(path.filename().string()),
        file_(path, std::ios::binary),
        format_(format),
        size_(size) {
    if (!file_) throw std::runtime_error(path.string() + " cannot be opened");
    if (format == VideoFormat::Y_UV8_420 && (size.width % 2 != 0 || size.height % 2 != 0))
      throw std::runtime_error("pictures in NV12 have even sizes, not " +
                               std::to_string(size.width) + "x" + std::to_string(size.height));
  }

  bool next(PictureBuffer& picture, std::string& name) override {
    if (ended_ || file_.peek() == std::ifstream::traits_type::eof()) return false;
    name = name_;
    ended_ = true;  // behind a frame that fails there are no more
    const MappedPicture target(picture.resize(format_, size_.width, size_.height),
                               vart::DataMapFlags::WRITE);
    for (int plane = 0; plane < target.planes(); ++plane)
      for (int row = 0; row < target.rows(plane); ++row) read_row(target.row(plane, row), target);
    ended_ = false;
    return true;
  }

 private:
  void read_row(uint8_t* row, const MappedPicture& target) {
    file_.read(reinterpret_cast<char*>(row), static_cast<std::streamsize>(target.row_bytes()));
    if (!file_) throw std::runtime_error("the file ends in the middle of the frame");
  }

  const std::string name_;
  std::ifstream file_;
  const VideoFormat format_;
  const PictureSize size_;
  bool ended_ = false;
};

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool is_named =
        is_among({".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".webp"}, entry.path());
    if (is_named && entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) throw std::runtime_error("the folder " + folder.string() + " has no pictures");
  return paths;
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path,
                                    const std::optional<PictureSize>& size) {
  if (!fs::exists(path)) throw std::runtime_error("there is no " + path);
  if (fs::is_directory(path)) return std::make_unique<PictureFiles>(pictures_in(path));
  if (is_among({".nv12", ".bgr"}, path)) {
    if (!size) throw std::runtime_error(path + " has raw pictures, whose size --dim has to give");
    const bool is_nv12 = extension_of(path) == ".nv12";
    return std::make_unique<RawFrames>(path, is_nv12 ? VideoFormat::Y_UV8_420 : VideoFormat::BGR,
                                       *size);
  }
  if (is_among({".y4m"}, path)) return open_y4m(path);
  if (is_among({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mjpg",
                ".mjpeg", ".h264", ".264", ".h265", ".265", ".hevc"},
               path))
    throw std::runtime_error("compressed video has to be unpacked first: ffmpeg -i " + path +
                             " -pix_fmt yuv420p video.y4m");
  return std::make_unique<PictureFiles>(std::vector<fs::path>{path});
}
