// write_seeded_model LIGHT.onnx MODEL.onnx INPUT.bin: the model with seeded weights, and its input
// as float32, for the runtime that makes the golden outputs (golden.mjs).
#include <fmt/format.h>

#include <span>

#include "io/file.h"
#include "tests/e2e/seeded/seeded_model.h"

namespace millrace::test {
namespace {

Status write(const char* light, const char* model, const char* input) {
  MILLRACE_ASSIGN_OR_RETURN(const SeededModel seeded, seed_model(light));
  MILLRACE_RETURN_IF_ERROR(io::write_file(model, std::as_bytes(std::span(seeded.onnx))));
  return io::write_file(input, std::as_bytes(std::span(seeded.input)));
}

}  // namespace
}  // namespace millrace::test

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: write_seeded_model LIGHT.onnx MODEL.onnx INPUT.bin\n");
    return 2;
  }
  const millrace::Status status = millrace::test::write(argv[1], argv[2], argv[3]);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
  return status.ok() ? 0 : 1;
}
