// The names in these models are written to control the terminal on which they are printed.
#include <gmock/gmock.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/printable.h"
#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kHostileInput = "in\x1b[2J\nmillrace: ready";
const std::string kHostileNode = "node\x1b]0;title\x07";
const std::string kHostileOutput =
    "out\x1b[31m\xc2\x9b"
    "1m\xe2\x80\xae";
const std::string kFileOfOutput = "out\\x1b[31m\\u009b1m\\u202e.bin";

void declare_tensor(onnx::ValueInfoProto* value, const std::string& name) {
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int dim : {1, 4}) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
}

std::string model_of(const std::string& type) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto* graph = model.mutable_graph();
  graph->set_name("graph\x1b[5m");
  auto* node = graph->add_node();
  node->set_name(kHostileNode);
  node->set_op_type(type);
  node->add_input(kHostileInput);
  node->add_output(kHostileOutput);
  declare_tensor(graph->add_input(), kHostileInput);
  declare_tensor(graph->add_output(), kHostileOutput);
  return model.SerializeAsString();
}

class Terminal : public CliTest {
 protected:
  Terminal() {
    write("model.onnx", model_of("Relu"));
    write("unknown.onnx", model_of("Relu\x1b[31m"));
    write("in.bin", std::string(16, '\0'));
  }

  void write(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(io::write_file(file(name), std::as_bytes(std::span(bytes))).ok());
  }

  ProgramResult checked(const std::vector<std::string>& arguments, int exit_code = 0) const {
    ProgramResult result = millrace(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(printable_lines(result.out), result.out);
    EXPECT_EQ(printable_lines(result.err), result.err);
    return result;
  }
};

TEST_F(Terminal, IsNotControlledByNames) {
  checked({"compile", "model.onnx", "-o", "model.rai", "--cpu-ops", kHostileNode});
  for (const char* command : {"inspect", "explain"}) checked({command, "model.rai"});
  EXPECT_THAT(checked({"inspect", "model.rai"}).out, HasSubstr("in\\x1b[2J"));
  EXPECT_THAT(checked({"inspect", "model.rai", "--json"}).out, HasSubstr("in\\u001b[2J"));
  EXPECT_THAT(checked({"explain", "model.rai"}).out, HasSubstr("\\x1b]0;title\\x07"));
  EXPECT_THAT(checked({"explain", "model.rai", "--json"}).out, HasSubstr("\\u001b]0;title"));
  checked({"bench", "model.rai", "-n", "1", "--warmup", "0"});
  checked({"compare", "model.rai", "model.onnx", "--input", "in.bin"});
}

TEST_F(Terminal, IsNotControlledByErrors) {
  const ProgramResult shown = checked({"inspect", "unknown.onnx"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("FLOAT [1,4]"), HasSubstr("  Relu\\x1b[31m")));
  EXPECT_THAT(shown.err, HasSubstr("not supported:\n  Relu\\x1b[31m (domain")) << "a list";
  const ProgramResult result = checked({"compile", "unknown.onnx", "-o", "model.rai"}, 1);
  EXPECT_THAT(result.err, HasSubstr("Relu\\x1b[31m"));
  checked({"run", "model.onnx", "--input", "other\x1b[2J=in.bin"}, 1);
  checked({"run", "none\x1b[2J.rai", "--input", "in.bin"}, 1);
}

TEST_F(Terminal, IsNotControlledByGraphs) {
  for (const char* model : {"model.onnx", "unknown.onnx"}) {
    checked({"inspect", model, "--graph", "graph.dot"});
    const auto bytes = io::read_file(file("graph.dot"));
    ASSERT_TRUE(bytes.ok());
    const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_THAT(
        text, AllOf(HasSubstr("label=\"Relu"), HasSubstr("in\\\\x1b[2J"), HasSubstr("-> output0")));
  }
}

TEST_F(Terminal, GetsTheNamesOfFilesAsTheyAre) {
  for (const char* sandbox : {"--view=cpu", "--sandbox"}) {
    const ProgramResult result =
        checked({"run", "model.onnx", "--input", "in.bin", "--output-dir", "out", sandbox});
    EXPECT_THAT(result.out, HasSubstr("wrote out/" + kFileOfOutput + " (16 bytes)\n"));
    EXPECT_TRUE(std::filesystem::remove(file("out/" + kFileOfOutput))) << sandbox;
    EXPECT_TRUE(std::filesystem::is_empty(file("out"))) << sandbox;
  }
}

// A folder without rights for its owner would stay empty.
TEST_F(Terminal, FoldersCanBeWrittenToWhateverTheUmask) {
  const ProgramResult result =
      run_program({"/bin/sh", "-c", "umask 777; exec \"$@\"", "sh", MILLRACE_PROGRAM, "run",
                   "model.onnx", "--input", "in.bin", "--output-dir", "new/out"},
                  directory_.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* folder : {"new", "new/out"}) {
    struct stat made {};
    ASSERT_EQ(::stat(file(folder).c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & S_IRWXU, static_cast<mode_t>(S_IRWXU)) << folder;
  }
  EXPECT_TRUE(std::filesystem::exists(file("new/out/" + kFileOfOutput)));
}

}  // namespace
}  // namespace millrace::test
