// Input: all frames of a run of the program.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "sources/source.hpp"

// Reads the source as often as --runs says, each time at most --frames frames. To be used by one
// thread at a time.
class Input {
 public:
  // At most `most` frames in all. Throws std::runtime_error as open_source does.
  explicit Input(const Arguments& arguments,
                 std::size_t most = std::numeric_limits<std::size_t>::max());

  // Like Source::next. When the source cannot be opened for a later run, throws with its path as
  // `name`, and that was the end.
  bool next(PictureBuffer& picture, std::string& name);

 private:
  void open_again(std::string& name);
  bool next_of_this_run(PictureBuffer& picture, std::string& name);

  const Arguments arguments_;
  std::size_t left_;               // in all
  std::size_t frames_of_run_ = 0;  // read in this run
  int runs_left_;
  std::unique_ptr<Source> source_;
};
