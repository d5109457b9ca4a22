#include "common/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <system_error>
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

// A device or a pipe is written to directly; a regular file must not replace it.
bool is_replaceable(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  return !std::filesystem::exists(found) || std::filesystem::is_regular_file(found);
}

[[noreturn]] void fail(const std::string& path) {
  const int reason = errno;
  throw std::runtime_error("cannot write " + path +
                           (reason != 0 ? std::string(": ") + std::strerror(reason) : ""));
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), temporary_(is_replaceable(path_) ? temporary_beside(path_) : "") {
  errno = 0;
  stream_.open(temporary_.empty() ? path_ : temporary_, std::ios::binary);
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
  if (!stream_) fail(path_);
  if (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_);
  temporary_.clear();
}

void finish_standard_output() {
  if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
}

}  // namespace samples
