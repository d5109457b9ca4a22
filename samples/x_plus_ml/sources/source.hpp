// Sources of pictures: files and folders.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "sources/picture.hpp"

// Gives one picture after the other. To be used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  // Fills `picture` with the next one and says what it is called; false at the end. Throws
  // exceptions derived from std::exception, with `name` set, for a picture that cannot be read: the
  // next call goes on behind it.
  virtual bool next(PictureBuffer& picture, std::string& name) = 0;
};

// Opens the source that the name of `path` stands for:
//   a folder       its pictures (.jpg, .jpeg, .png, .bmp, .ppm, .webp), in the order of their names
//   .nv12, .bgr    raw frames of `size`, one behind the other
//   .y4m           video without compression, 4:2:0 in 8 bits
//   anything else  one picture
// Throws std::runtime_error with the reason where nothing can be read at all, among it video in
// other formats, with the command that converts it.
std::unique_ptr<Source> open_source(const std::string& path,
                                    const std::optional<PictureSize>& size);
