// DataSet presents files with inputs of a model as samples in a fixed order, for evaluation and
// calibration. Movable; one thread at a time may use it.
//
//   MILLRACE_ASSIGN_OR_RETURN(DataSet data, DataSet::open(model.inputs, {"photos"}, options));
//   for (size_t i = 0; i < data.size(); ++i) {
//     MILLRACE_ASSIGN_OR_RETURN(const Sample sample, data.load(i));
//     ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/data/frame_file.h"
#include "graph/compiled_model.h"
#include "io/pictures/picture.h"
#include "quantise/calibrate/sample.h"

namespace millrace::cli {

// One frame of every input; its name is DataSet::name().
using quantise::Sample;

// Returns the files that a data set takes from a folder: of this folder and those in it, all
// pictures, arrays and .bin files, in the order of their paths. kInvalidArgument if there is none;
// kIoError.
Result<std::vector<std::string>> usable_files(const std::string& folder);

class DataSet {
 public:
  // `inputs` are those of the model, without open shapes (open_tensors.h). A source is a file or a
  // folder, of which usable_files() are taken. Other and hidden files are ignored.
  //
  // For a model with one input, `sources` are the sources. For one with several inputs, they are
  // NAME=SOURCE for each input, or one folder that has for each input a folder NAME, or a file
  // NAME.npy or NAME.bin ('/' in an input's name is '-' there). Sample i has the i-th frame of each
  // input.
  //
  // Reads arrays to count their frames, but decodes no picture. Errors name the file or the input:
  // kNotFound, kIoError, kCorruptData, and kInvalidArgument for a folder without usable files, an
  // input without a source, a shape that does not fit, or inputs with different numbers of frames.
  static Result<DataSet> open(std::vector<graph::Boundary> inputs,
                              const std::vector<std::string>& sources,
                              const io::PictureOptions& picture);

  size_t size() const noexcept { return size_; }
  // Returns the index of the first input of which a file has pictures; nothing if none has.
  std::optional<size_t> input_of_pictures() const noexcept { return input_of_pictures_; }

  // Returns the file of the first input, with the index of the frame if it has several, such as
  // "a.npy[17]".
  std::string name(size_t index) const;
  // Returns the file of the first input.
  const std::string& path(size_t index) const;
  // Returns the source folder in which path() was found; empty if the file itself is a source.
  const std::string& folder(size_t index) const;

  // Returns the indices of at most `most` samples, ascending and evenly spaced, so that data with a
  // folder per class gives samples of all classes.
  std::vector<size_t> spread(size_t most) const;

  // Reads a sample. The file that was read last stays in memory, so a file with many frames is read
  // once if they are loaded in order. Errors name the file.
  Result<Sample> load(size_t index);

  // Returns a small PNG of the first input's picture, whose longer side has at most `side` pixels;
  // nothing if the sample is not a picture. Errors name the file.
  Result<std::optional<std::vector<std::byte>>> thumbnail(size_t index, uint32_t side);

 private:
  struct Entry {
    std::string path;
    std::string folder;
    size_t first = 0;  // index of its first sample
    size_t frames = 0;
  };
  struct Input {
    graph::Boundary boundary;
    std::vector<Entry> entries;
    std::optional<FrameFile> open;  // entries[open_entry]
    size_t open_entry = 0;
  };

  DataSet() = default;
  static const Entry& entry_of(const Input& input, size_t index);
  // Returns the entry that has the sample, after reading it into input.open if it is not there.
  Result<const Entry*> open_entry_of(Input& input, size_t index);

  std::vector<Input> inputs_;
  io::PictureOptions picture_;
  size_t size_ = 0;
  std::optional<size_t> input_of_pictures_;
};

}  // namespace millrace::cli
