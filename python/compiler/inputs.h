// Reads the inputs of a model from files, preprocessed, for programs that run it themselves.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/data/picture_flags.h"
#include "cli/inputs/frames.h"

namespace millrace::python {

struct InputArguments {
  std::string model;
  std::vector<std::string> inputs;  // SOURCE, or NAME=SOURCE
  std::vector<std::string> shapes;  // of open inputs: NAME=1,3,224,224
  cli::PictureFlags picture;
};

// Reads all frames in the CPU view, as the commands do that take --input. Thread-safe.
Result<cli::LoadedInputs> read_inputs(const InputArguments& arguments);

}  // namespace millrace::python
