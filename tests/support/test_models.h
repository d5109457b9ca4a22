// The folder of test models: optional, because it is not part of the project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "source_dir.h"

namespace millrace::test {

// The path of `file` ("models/mnist-8.onnx", "manifest.json") in the folder that the environment
// variable MILLRACE_TEST_MODELS names, else in ../shared/models beside the project; nothing where
// the file does not exist.
inline std::optional<std::string> test_model(std::string_view file) {
  const char* folder = std::getenv("MILLRACE_TEST_MODELS");
  const std::filesystem::path root =
      folder != nullptr ? folder : MILLRACE_SOURCE_DIR "/../shared/models";
  std::error_code error;
  const std::filesystem::path path = root / file;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path.string();
}

}  // namespace millrace::test
