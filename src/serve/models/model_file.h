// Finds the files of models, and loads them through the native API: archives, and .onnx files,
// which are compiled in memory. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/device.hpp"

namespace millrace::serve {

struct ModelFile {
  std::string name, version;
  std::string path;
  // Files of a repository; empty: there is none.
  std::string labels = {};    // labels.txt beside it
  std::string settings = {};  // millrace.json in the folder of the model
};

// A model that could not be loaded.
struct FailedModel {
  ModelFile file;
  Status reason;
};

struct FoundModels {
  std::vector<ModelFile> files;
  std::vector<FailedModel> failed;  // folders that cannot be read, or leave a choice
};

// Returns the models that an argument of the command line stands for. These are one model of
// version 1, whose name is that of the file without .onnx or .rai, or those of a repository:
//
//   REPOSITORY/NAME/VERSION/FILE   a number as version, and one .onnx file or archive
//   REPOSITORY/NAME/FILE           version 1
//   REPOSITORY/FILE                version 1, the name being that of the file
//
// The settings of a model are REPOSITORY/NAME/millrace.json, and in the last form
// REPOSITORY/millrace.json.
// Names that begin with a dot are ignored. A folder of a repository that cannot be read, or that
// has several models, so that it is unclear which one is meant, is named and leaves the others as
// they are. kNotFound if there is none; kIoError if the repository itself cannot be read.
Result<FoundModels> find_models(const std::string& path);
// Whether find_models() takes the path for a repository.
bool is_repository(const std::string& path);

// How an .onnx file is compiled.
struct Compilation {
  std::string precision = "fp32";
  uint32_t batch = 1;
};

// Errors are those of the compiler and of Device::load(), with the path.
Result<Model> load_model_file(const std::string& path, const Compilation& how, Device& device);

}  // namespace millrace::serve
