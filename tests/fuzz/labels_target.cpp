// Any file is a list of lines, none of which holds a line end.
#include "io/file.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {

void fuzz_one(Input input) {
  const auto lines = io::read_lines(InputFile(input).path());
  expect(lines.ok(), "any bytes are lines");
  size_t bytes = 0;
  for (const std::string& line : *lines) {
    expect(line.find('\n') == std::string::npos, "no line end in a line");
    bytes += line.size();
  }
  expect(bytes <= input.size(), "no more than was read");
}

}  // namespace millrace::fuzz
