// DataSet: files that hold inputs of a model, as samples in a fixed order, for labelled data and
// for calibration. Movable; to be used by one thread at a time.
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
#include "io/picture.h"
#include "quantise/calibrate/sample.h"

namespace millrace::cli {

// One frame of every input; its name is DataSet::name().
using quantise::Sample;

class DataSet {
 public:
  // `inputs` are those of the model, open ones settled (open_tensors.h). A source is a file, or a
  // folder, whose pictures, .npy and .bin files are taken in the order of their paths, from folders
  // inside it, too; other files and hidden ones are left out.
  //
  // A model with one input takes sources as they are. One with several takes NAME=SOURCE for each
  // of them, or one folder that holds for each NAME a folder, a file NAME.npy or NAME.bin ('/' in
  // a name is '-' in those of files). Sample i has the i-th frame of each input.
  //
  // Decodes no picture, but reads arrays, to count their frames. kNotFound, kIoError, kCorruptData,
  // or kInvalidArgument, with the file or the input: a folder without a file that is taken, an
  // input without a source, a shape that does not fit, inputs with different numbers of frames.
  static Result<DataSet> open(std::vector<graph::Boundary> inputs,
                              const std::vector<std::string>& sources,
                              const io::PictureOptions& picture);

  size_t size() const noexcept { return size_; }

  // The file of the first input, and where it holds several frames, which one, as "a.npy[17]".
  std::string name(size_t index) const;
  // The file of the first input.
  const std::string& path(size_t index) const;
  // The folder among the sources that `path` was found in; empty for a file that was given.
  const std::string& folder(size_t index) const;

  // At most `most` samples, evenly over all, so that of a folder for each class there are some of
  // each. In order.
  std::vector<size_t> spread(size_t most) const;

  // Reads a sample. The file that was read last stays in memory, so that going through a file of
  // many frames in order reads it once. Errors name the file.
  Result<Sample> load(size_t index);

  // A small PNG of the first input's picture, whose longer side has at most `side` pixels; none
  // where the sample is no picture. Errors name the file.
  Result<std::optional<std::vector<std::byte>>> thumbnail(size_t index, uint32_t side);

 private:
  struct Entry {
    std::string path;
    std::string folder;
    size_t first = 0;  // sample
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
  // The entry that the sample is in, read into input.open unless it is there.
  Result<const Entry*> open_entry_of(Input& input, size_t index);

  std::vector<Input> inputs_;
  io::PictureOptions picture_;
  size_t size_ = 0;
};

}  // namespace millrace::cli
