#include "common/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace samples {
namespace {

// A short name, since that of the file may be as long as a name can be.
std::string temporary_beside(const std::string& path) {
  static int count = 0;
  const std::string name =
      ".unfinished-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  return (std::filesystem::path(path).parent_path() / name).string();
}

[[noreturn]] void fail(const std::string& path) {
  const int reason = errno;
  throw std::runtime_error("cannot write " + path +
                           (reason != 0 ? std::string(": ") + std::strerror(reason) : ""));
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), temporary_(temporary_beside(path_)) {
  errno = 0;
  stream_.open(temporary_, std::ios::binary);
  if (!stream_) fail(path_);
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  stream_.close();
  std::remove(temporary_.c_str());
}

void OutputFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_ || std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_);
  temporary_.clear();
}

void finish_standard_output() {
  if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
}

}  // namespace samples
