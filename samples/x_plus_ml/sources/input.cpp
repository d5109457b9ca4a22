#include "sources/input.hpp"

#include <stdexcept>

Input::Input(const Arguments& arguments, std::size_t most)
    : arguments_(arguments),
      left_(most),
      runs_left_(arguments.runs - 1),
      source_(open_source(arguments.input, arguments.size)) {}

bool Input::next(PictureBuffer& picture, std::string& name) {
  while (left_ > 0) {
    if (next_of_this_run(picture, name)) return true;
    if (runs_left_ == 0) return false;
    --runs_left_;
    frames_of_run_ = 0;
    open_again(name);
  }
  return false;
}

void Input::open_again(std::string& name) {
  try {
    source_ = open_source(arguments_.input, arguments_.size);
  } catch (const std::exception& error) {
    left_ = 0;
    name = arguments_.input;
    throw std::runtime_error(std::string("cannot be read again: ") + error.what());
  }
}

bool Input::next_of_this_run(PictureBuffer& picture, std::string& name) {
  if (frames_of_run_ == arguments_.frames) return false;
  ++frames_of_run_;  // also the frames that are broken
  --left_;
  if (source_->next(picture, name)) return true;
  ++left_;
  return false;
}
