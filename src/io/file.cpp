#include "io/file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "model/files/temporary_output.h"

namespace millrace::io {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(found))
    return invalid_argument(path + " is a directory, expected a file");
  // Reading from a device might never end.
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
    return invalid_argument(path +
                            " is not a regular file; what a pipe or a device gives is read from a "
                            "file that it was saved to");
  if (path == "-" && !std::filesystem::exists(found))
    return invalid_argument("-: standard input is not read; save it to a file");
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return io_error("open " + path, errno);
  std::vector<std::byte> bytes;
  constexpr size_t kStep = 1 << 16;
  while (true) {
    const size_t before = bytes.size();
    bytes.resize(before + kStep);
    const size_t got = std::fread(bytes.data() + before, 1, kStep, file.get());
    bytes.resize(before + got);
    if (got == kStep) continue;
    if (std::ferror(file.get()) != 0) return io_error("read " + path, errno);
    return bytes;
  }
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::fflush(stdout);  // the path may name standard output
  return model::write_whole_file(path, bytes).with_context("write " + path);
}

Result<std::vector<std::string>> read_lines(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  std::vector<std::string> lines;
  std::string line;
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    line.clear();
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace millrace::io
