// The text that a sandboxed child prints. Its standard output and error are pipes to the
// parent, which prints the text in its printable form: the child has neither the parent's terminal
// nor a file to which the output goes. One thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::cli {

// One of the two streams.
class ChildStream {
 public:
  // kIoError when there can be no pipe.
  static Result<ChildStream> open(std::FILE* to);

  // The child's end, which the parent closes after the fork.
  int writing() const noexcept { return writing_.get(); }
  void close_writing() noexcept { writing_ = UniqueFd(); }
  // The parent's end; -1 after the child has closed the stream.
  int reading() const noexcept { return reading_.get(); }

  // Prints the whole lines that have arrived, and never waits. kResourceExhausted when the child
  // has printed too much.
  Status pass_on();
  // The same for what the child has left when it has ended, the last line included.
  Status finish();

 private:
  void print(std::string_view text);
  void print_whole_lines();

  std::FILE* to_ = nullptr;
  UniqueFd reading_, writing_;
  std::string line_;  // the beginning of a line
  uint64_t passed_ = 0;
};

struct ChildText {
  ChildStream output, error;

  static Result<ChildText> open();
  void close_writing() noexcept;
  Status pass_on();
  Status finish();
};

}  // namespace millrace::cli
