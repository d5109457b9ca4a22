// Writes the archives that fuzz targets start from, in a folder of DIRECTORY for each: one model
// with every operator and one with a network, which compute nothing of use, or models that run.
//
//   fuzz_seeds DIRECTORY FOLDER_OF_ONNX_FILES
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "tests/graph/all_operators_model.h"
#include "tests/graph/dynamic_model.h"
#include "tests/support/relu_model.h"
#include "tests/support/tiny_model.h"

namespace millrace::fuzz {
namespace {

namespace fs = std::filesystem;

void write(const graph::CompiledModel& model, const fs::path& path) {
  const Status status =
      model::write_archive(graph::encode(model), path.string(), model::ArchiveForm::kFile);
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", path.c_str(), status.to_string().c_str());
  std::exit(1);
}

void write_models(const fs::path& folder, const fs::path& onnx_files) {
  write(test::tiny_model(), folder / "tiny.rai");
  write(test::tiny_model({.batch_size = 2, .cpu_partition = true}), folder / "partitions.rai");
  write(test::tiny_model({.precision = graph::Precision::kBf16}), folder / "bf16.rai");
  write(test::pair_model(), folder / "pair.rai");
  for (const auto& entry : fs::directory_iterator(onnx_files)) {
    const auto model = compiler::compile(entry.path().string(), {});
    // Some seeds of the importer are there to be refused.
    if (model.ok()) write(*model, folder / entry.path().filename().replace_extension(".rai"));
  }
}

}  // namespace
}  // namespace millrace::fuzz

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  for (const char* target : {"archive", "execute", "nrt_load"})
    std::filesystem::create_directories(folder / target);
  millrace::fuzz::write(millrace::test::all_operators_model(), folder / "archive/operators.rai");
  millrace::fuzz::write(millrace::test::dynamic_model(), folder / "archive/network.rai");
  for (const char* target : {"execute", "nrt_load"})
    millrace::fuzz::write_models(folder / target, arguments[2]);
}
