// The sample of the NRT face on archives of divided models.
#include <gmock/gmock.h>

#include "compiler/compiler.h"
#include "compiler/export/onnx_writer.h"
#include "compiler/shard/rank_graph.h"
#include "compiler/shard/split_plan.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "tests/ranks/models/transformer.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

// Compiles a transformer that is divided among `ranks` ranks.
std::vector<std::string> archives_of(uint32_t ranks, const TemporaryDirectory& directory) {
  const graph::Graph graph = make_transformer({});
  const compiler::SplitPlan plan = compiler::plan_split(graph, ranks).value();
  std::vector<std::string> paths;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string onnx = directory.file("rank.onnx");
    const graph::Graph part = compiler::make_rank_graph(graph, plan, rank, ranks).value();
    EXPECT_TRUE(compiler::write_onnx(part, onnx).ok());
    const auto model = compiler::compile(onnx, {});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    paths.push_back(directory.file("rank" + std::to_string(rank) + ".rai"));
    EXPECT_TRUE(
        model::write_archive(graph::encode(*model), paths.back(), model::ArchiveForm::kFile).ok());
  }
  return paths;
}

TEST(TensorParallelSample, RanksInProcessesOfTheirOwnAgree) {
  for (const uint32_t ranks : {2u, 4u}) {
    const TemporaryDirectory directory;
    std::vector<std::string> command = {MILLRACE_NRT_TENSOR_PARALLEL, "-n", "5"};
    for (const std::string& path : archives_of(ranks, directory)) command.push_back(path);
    const ProgramResult result = run_program(command, "/");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(std::to_string(ranks) + " ranks, two in flight"));
    EXPECT_THAT(result.out, HasSubstr("outputs of all ranks have the hash"));
  }
}

TEST(TensorParallelSample, ArchivesOfMoreRanksAreRefused) {
  const TemporaryDirectory directory;
  const std::vector<std::string> of_four = archives_of(4, directory);
  const ProgramResult result =
      run_program({MILLRACE_NRT_TENSOR_PARALLEL, of_four[0], of_four[1]}, "/");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("it is for 4 ranks, but the communicator has 2"));
  EXPECT_EQ(run_program({MILLRACE_NRT_TENSOR_PARALLEL, "--help"}, "/").exit_code, 0);
  EXPECT_EQ(run_program({MILLRACE_NRT_TENSOR_PARALLEL, of_four[0]}, "/").exit_code, 2);
}

}  // namespace
}  // namespace millrace::test
