// Writes files that are complete, or the program says that they are not. All functions throw
// std::runtime_error that names the file.
#pragma once

#include <fstream>
#include <string>

namespace samples {

// A file that gets its name when it is complete. Without commit() nothing is left of it, and a file
// that has the name stays as it is. A device or a pipe that has the name is written to at once.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Failures to write are reported by commit().
  std::ostream& stream() { return stream_; }
  void commit();

 private:
  std::string path_;
  std::string temporary_;  // empty when nothing has such a name
  std::ofstream stream_;
};

// To be called last: what was printed may still wait in a buffer.
void finish_standard_output();

}  // namespace samples
