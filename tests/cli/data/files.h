// Files of data sets, as tests need them: small pictures and arrays.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cli/data/data_set.h"
#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {

// A file with these bytes, in folders that are made.
inline std::string write_text(const TemporaryDirectory& directory, const std::string& name,
                              const std::string& text) {
  const std::filesystem::path path = directory.path() / name;
  std::filesystem::create_directories(path.parent_path());
  EXPECT_TRUE(io::write_file(path.string(), std::as_bytes(std::span(text))).ok());
  return path.string();
}

// A picture of 2 x 2 grey pixels of one value.
inline std::string write_grey(const TemporaryDirectory& directory, const std::string& name,
                              char value) {
  return write_text(directory, name, "P5\n2 2\n255\n" + std::string(4, value));
}

// An array of bytes; `type` as NumPy calls it, `shape` with commas.
inline std::string write_npy(const TemporaryDirectory& directory, const std::string& name,
                             const std::string& type, const std::string& shape,
                             const std::string& bytes) {
  const std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  const std::string start("\x93NUMPY\x01\x00", 8);
  return write_text(directory, name,
                    start + static_cast<char>(header.size()) + '\0' + header + bytes);
}

inline graph::Boundary float_input(const std::string& name, std::vector<uint32_t> shape) {
  graph::Boundary input;
  input.cpu = tensor::make_cpu_desc(name, tensor::DataType::kFloat32, std::move(shape));
  return input;
}

}  // namespace millrace::test
