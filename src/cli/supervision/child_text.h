// Prints the text of a sandboxed child. The standard output and error of the child are pipes to the
// parent, which prints the text with control characters escaped. So the child has access neither to
// the terminal of the parent nor to the file to which its output goes. One thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::cli {

// One of the two streams, standard output or standard error.
class ChildStream {
 public:
  // Makes the pipe of the stream. kIoError if that fails.
  static Result<ChildStream> open(std::FILE* to);

  // Returns the child's end, which the parent closes after the fork.
  int writing() const noexcept { return writing_.get(); }
  void close_writing() noexcept { writing_ = UniqueFd(); }
  // Returns the parent's end; -1 after the child has closed the stream.
  int reading() const noexcept { return reading_.get(); }

  // Prints the whole lines that have arrived. Never blocks. kResourceExhausted if the child has
  // printed more than the limit.
  Status pass_on();
  // Prints the rest once the child has ended, including an incomplete last line.
  Status finish();

 private:
  void print(std::string_view text);
  void print_whole_lines();

  std::FILE* to_ = nullptr;
  UniqueFd reading_, writing_;
  std::string line_;  // a line that is not complete yet
  uint64_t passed_ = 0;
};

// Both streams. Each function does the same for both of them.
struct ChildText {
  ChildStream output, error;

  static Result<ChildText> open();
  void close_writing() noexcept;
  Status pass_on();
  Status finish();
};

}  // namespace millrace::cli
