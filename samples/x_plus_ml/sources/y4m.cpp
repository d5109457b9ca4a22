#include "sources/y4m.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace {

constexpr int kLargest = 65535;  // what a region of preprocessing can address

[[noreturn]] void refuse(const std::string& reason) {
  throw std::runtime_error("the Y4M video " + reason);
}

int side_of(const std::string& text) {
  int side = 0;
  std::istringstream(text) >> side;
  if (side < 2 || side > kLargest || side % 2 != 0)
    refuse("has a width or height of " + text + "; even ones up to 65534 can be used");
  return side;
}

// 4:2:0 in 8 bits is the default, and has several names for where the chroma samples lie.
void check_samples(const std::string& samples) {
  if (samples != "420" && samples != "420jpeg" && samples != "420mpeg2" && samples != "420paldv")
    refuse("has samples C" + samples + "; 4:2:0 in 8 bits can be used: ffmpeg -pix_fmt yuv420p");
}

class Y4mVideo : public Source {
 public:
  explicit Y4mVideo(const std::string& path)
      : name_(std::filesystem::path(path).filename().string()), file_(path, std::ios::binary) {
    if (!file_) refuse("cannot be opened: " + path);
    std::error_code no_size;  // of a pipe; the largest number stands for it
    file_bytes_ = std::filesystem::file_size(path, no_size);
    read_header();
  }

  bool next(PictureBuffer& picture, std::string& name) override {
    if (ended_ || file_.peek() == std::ifstream::traits_type::eof()) return false;
    name = name_;
    ended_ = true;  // what follows a frame that fails cannot be told from it
    if (line().rfind("FRAME", 0) != 0) refuse("has no frame where one should begin");
    make_room();
    const MappedPicture target(
        picture.resize(vart::VideoFormat::Y_UV8_420, size_.width, size_.height),
        vart::DataMapFlags::WRITE);
    for (int row = 0; row < target.rows(0); ++row) read(target.row(0, row), target.row_bytes());
    read(chroma_.data(), chroma_.size());
    interleave_chroma(target);
    ended_ = false;
    return true;
  }

 private:
  void read_header() {
    std::istringstream words(line());
    std::string word;
    words >> word;
    if (word != "YUV4MPEG2") refuse("does not begin with YUV4MPEG2");
    while (words >> word) {
      const std::string value = word.substr(1);
      if (word[0] == 'W') size_.width = side_of(value);
      if (word[0] == 'H') size_.height = side_of(value);
      if (word[0] == 'C') check_samples(value);
    }
    if (size_.width == 0 || size_.height == 0) refuse("does not say its width and height");
  }

  // Reads a line. One that is too long for the format is not read to its end.
  std::string line() {
    constexpr std::size_t kLongest = 1024;
    std::string text(kLongest, '\0');
    file_.getline(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(text.find('\0'));
    return text;
  }

  // No memory for a frame that the file is too short for, whatever its header says.
  void make_room() {
    const std::size_t pixels = static_cast<std::size_t>(size_.width) * size_.height;
    if (pixels + pixels / 2 > file_bytes_) refuse_end();
    chroma_.resize(pixels / 2);
  }

  [[noreturn]] static void refuse_end() { refuse("ends in the middle of the frame"); }

  void read(uint8_t* data, std::size_t bytes) {
    file_.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(bytes));
    if (!file_) refuse_end();
  }

  // The planes U and V, one behind the other, become one of pairs.
  void interleave_chroma(const MappedPicture& target) const {
    const uint8_t* u = chroma_.data();
    const uint8_t* v = u + chroma_.size() / 2;
    for (int row = 0; row < target.rows(1); ++row) {
      uint8_t* pair = target.row(1, row);
      for (int column = 0; column < size_.width / 2; ++column) {
        *pair++ = *u++;
        *pair++ = *v++;
      }
    }
  }

  const std::string name_;
  std::ifstream file_;
  std::uintmax_t file_bytes_ = 0;
  PictureSize size_;
  std::vector<uint8_t> chroma_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Source> open_y4m(const std::string& path) {
  return std::make_unique<Y4mVideo>(path);
}
