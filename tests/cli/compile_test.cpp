#include <gmock/gmock.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

TEST_F(CliTest, CompileSaysWhatItMade) {
  const ProgramResult result = millrace({"compile", kGlyphsOnnx, "-o", file("glyphs.rai")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("operators"), std::string::npos) << result.out;
  EXPECT_TRUE(fs::is_regular_file(file("glyphs.rai")));
}

TEST_F(CliTest, CompileNotesABatchThatTheModelFixes) {
  const auto out_with = [&](const char* shape) {
    return millrace({"compile", kGlyphsOnnx, "-o", file("glyphs.rai"), "--input-shape", shape}).out;
  };
  EXPECT_NE(out_with("image=2,1,32,32").find("note: the shape of input \"image\" has N=2"),
            std::string::npos);
  EXPECT_EQ(out_with("image=1,1,32,32").find("note:"), std::string::npos);
}

void add_boundary(onnx::ValueInfoProto* value, const std::string& name, int type, int64_t size) {
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape()->add_dim()->set_dim_value(2);
  if (size > 0) tensor->mutable_shape()->add_dim()->set_dim_value(size);
}

// Tells two rows "cat" or "dog". Its label may be left out.
onnx::ModelProto classifier(const std::string& label) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  for (const char* domain : {"", "ai.onnx.ml"}) {
    auto* opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(*domain == '\0' ? 13 : 1);
  }
  onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->set_domain("ai.onnx.ml");
  node->set_op_type("LinearClassifier");
  node->add_input("x");
  node->add_output(label);
  node->add_output("scores");
  auto* names = node->add_attribute();
  names->set_name("classlabels_strings");
  names->set_type(onnx::AttributeProto::STRINGS);
  for (const char* name : {"cat", "dog"}) names->add_strings(name);
  auto* coefficients = node->add_attribute();
  coefficients->set_name("coefficients");
  coefficients->set_type(onnx::AttributeProto::FLOATS);
  for (const float element : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f})
    coefficients->add_floats(element);
  auto* graph = model.mutable_graph();
  add_boundary(graph->add_input(), "x", onnx::TensorProto::FLOAT, 3);
  add_boundary(graph->add_output(), "scores", onnx::TensorProto::FLOAT, 2);
  if (!label.empty()) add_boundary(graph->add_output(), label, onnx::TensorProto::STRING, 0);
  return model;
}

TEST_F(CliTest, CompileNotesWhatBecomesOfNamesOfClassesThatTheModelGives) {
  const auto out_with = [&](const std::string& label, const char* shape) {
    const std::string bytes = classifier(label).SerializeAsString();
    EXPECT_TRUE(io::write_file(file("pets.onnx"), std::as_bytes(std::span(bytes))).ok());
    const ProgramResult result =
        millrace({"compile", file("pets.onnx"), "-o", file("pets.rai"), "--input-shape", shape});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  for (const char* shape : {"x=2,3", "x=?,3"}) {
    EXPECT_THAT(out_with("pet", shape),
                testing::HasSubstr("note: \"pet\" has the index of a class"));
    EXPECT_THAT(out_with("", shape), testing::Not(testing::HasSubstr("index of a class")));
  }
}

TEST_F(CliTest, CompileNotesALaterOpset) {
  const auto out_with = [&](int opset) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    auto* graph = model.mutable_graph();
    add_boundary(graph->add_input(), "x", onnx::TensorProto::FLOAT, 3);
    add_boundary(graph->add_output(), "y", onnx::TensorProto::FLOAT, 3);
    onnx::NodeProto* node = graph->add_node();
    node->set_op_type("Relu");
    node->add_input("x");
    node->add_output("y");
    const std::string bytes = model.SerializeAsString();
    EXPECT_TRUE(io::write_file(file("relu.onnx"), std::as_bytes(std::span(bytes))).ok());
    const ProgramResult result = millrace({"compile", file("relu.onnx"), "-o", file("relu.rai")});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(millrace({"inspect", file("relu.rai")}).exit_code, 0);
    return result.out;
  };
  EXPECT_THAT(out_with(28), testing::HasSubstr("note: the model uses opset 28 of domain ai.onnx; "
                                               "its operators are taken for those of opset 27"));
  EXPECT_THAT(out_with(27), testing::Not(testing::HasSubstr("uses opset")));
}

TEST_F(CliTest, CompileIsDeterministic) {
  const auto first = io::read_file(compiled("first.rai"));
  const auto second = io::read_file(compiled("second.rai"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
}

TEST_F(CliTest, CompileToADirectoryRunsLikeAFile) {
  const std::string form = compiled("glyphs", {"--format", "dir"});
  EXPECT_TRUE(fs::is_directory(form + "/vaiml_par_0"));
  EXPECT_EQ(millrace({"inspect", form}).exit_code, 0);
}

TEST_F(CliTest, CompileRefusesWhatIsNoModel) {
  expect_failure(millrace({"compile", "none.onnx", "-o", file("a.rai")}), "none.onnx");
  expect_failure(millrace({"compile", kGlyphsFolder + "classes.txt", "-o", file("a.rai")}),
                 "classes.txt");
  EXPECT_TRUE(fs::is_empty(directory_.path())) << "a failed compile left something behind";
}

TEST_F(CliTest, CompileRefusesEveryTruncation) {
  const auto whole = io::read_file(kGlyphsOnnx);
  ASSERT_TRUE(whole.ok());
  for (size_t part = 0; part < 16; ++part) {
    const auto bytes = std::span(*whole).first(whole->size() * part / 16);
    ASSERT_TRUE(io::write_file(file("cut.onnx"), bytes).ok());
    expect_failure(millrace({"compile", file("cut.onnx"), "-o", file("a.rai")}), "cut.onnx");
    EXPECT_FALSE(fs::exists(file("a.rai")));
  }
}

TEST_F(CliTest, CompileRefusesBadOptionValuesByName) {
  expect_wrong_command_line(
      millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--hw-layout", "image=WCHN"}), "WCHN");
  expect_failure(millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--hw-layout", "photo=NCHW"}),
                 "photo");
  expect_wrong_command_line(
      millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--hw-layout", "image=GENERIC:0,2,x"}),
      "write it like GENERIC:0,2,3,1");
  expect_wrong_command_line(
      millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--input-shape", "image=1,x"}), "1,x");
}

class VendorConfig : public CliTest {
 protected:
  // Compiles with such a "vaiml_config" and returns what was printed.
  std::string output_with(const std::string& section, std::vector<std::string> flags = {}) {
    std::ofstream(file("vitisai_config.json"))
        << R"({"passes": [{"name": "init"}, {"name": "vaiml_partition", "vaiml_config": )"
        << section << R"(}], "target": "VAIML"})";
    std::vector<std::string> arguments = {"compile",     kGlyphsOnnx, "-o",
                                          file("a.rai"), "--config",  file("vitisai_config.json")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramResult result = millrace(arguments);
    return result.exit_code == 0 ? result.out : result.err;
  }
};

TEST_F(VendorConfig, WhatMeansSomethingHereAppliesAndTheRestIsReported) {
  const std::string output = output_with(
      R"({"device": "ve2", "dp_size": 3, "enable_f32_to_bf16_conversion": true,
          "optimize_level": 2})");
  EXPECT_THAT(output, testing::HasSubstr("bf16, batch 3"));
  EXPECT_THAT(output, testing::HasSubstr("these settings are ignored: device, optimize_level\n"));
}

TEST_F(VendorConfig, TheSizesGiveTheColumnsOfTheModel) {
  EXPECT_THAT(output_with(R"({"dp_size": 2, "tp_size": 3})"),
              testing::HasSubstr("batch 2, 24 columns\n"));
  EXPECT_THAT(output_with(R"({"tp_size": 4})"), testing::HasSubstr("batch 1, 16 columns\n"));
  EXPECT_THAT(millrace({"inspect", file("a.rai")}).out,
              testing::HasSubstr("batch 1  16 columns\n"));
  EXPECT_THAT(output_with(R"({"dp_size": 1, "tp_size": 1})"), testing::HasSubstr("batch 1\n"));
}

TEST_F(VendorConfig, FlagsTakePrecedence) {
  EXPECT_THAT(output_with(R"({"dp_size": 3, "enable_f32_to_bf16_conversion": true})",
                          {"--batch", "2", "--precision", "fp32"}),
              testing::HasSubstr("fp32, batch 2"));
}

TEST_F(VendorConfig, PassesAreReadTogether) {
  EXPECT_THAT(
      output_with(R"({"z": 1, "dp_size": 3}}, {"vaiml_config": {"a": 1, "z": 2, "dp_size": 3})"),
      testing::AllOf(testing::HasSubstr("these settings are ignored: a, z\n"),
                     testing::HasSubstr("batch 3")));
  EXPECT_THAT(output_with(R"({"dp_size": 3}}, {"vaiml_config": {"dp_size": 2})"),
              testing::HasSubstr("\"dp_size\" is given twice"));
}

TEST_F(VendorConfig, WhatMakesNoSenseIsRefusedWithTheReason) {
  EXPECT_THAT(output_with(R"({"dp_size": 0})"), testing::HasSubstr("\"dp_size\" takes a number"));
  EXPECT_THAT(output_with(R"({"enable_f32_to_bf16_conversion": "yes"})"),
              testing::HasSubstr("takes true or false"));
  EXPECT_THAT(output_with("[]"), testing::HasSubstr("\"vaiml_config\" takes an object"));
  EXPECT_THAT(output_with("{"), testing::HasSubstr("it is not a JSON object"));
  EXPECT_THAT(output_with(R"({"dp_size": 4097})"), testing::HasSubstr("a number from 1 to 4096"));
  EXPECT_THAT(output_with(R"({"tp_size": -1})"), testing::HasSubstr("\"tp_size\" takes a number"));
  EXPECT_THAT(output_with(R"({"dp_size": 4096, "tp_size": 5})"),
              testing::HasSubstr("makes 81920 columns, but a model can occupy 65536"));
  std::ofstream(file("other.json")) << "{}";
  expect_failure(
      millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--config", file("other.json")}),
      "has no object \"vaiml_config\"");
  expect_failure(
      millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--config", "missing.json"}),
      "missing.json");
}

TEST_F(CliTest, CompilePutsOperatorsOnTheCpu) {
  const std::string form = compiled("glyphs", {"--cpu-ops", "GlobalPool", "--format", "dir"});
  for (const char* part : {"/connectivity_metadata.json", "/vaiml_par_0/structure.bin",
                           "/vaiml_cpu_subgraph_0/subgraph.json", "/vaiml_par_1/subgraph.json"})
    EXPECT_TRUE(fs::is_regular_file(form + part)) << part;
  compiled("glyphs", {"--format", "dir"});
  EXPECT_FALSE(fs::exists(form + "/vaiml_cpu_subgraph_0")) << "of the archive that was replaced";
}

TEST_F(CliTest, CompileRefusesCpuOperatorsThatAreNotThere) {
  const ProgramResult result =
      millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--cpu-ops", "Conv,Softmacs"});
  expect_failure(result, "'Softmacs'");
  expect_failure(result, "GlobalPool");
  expect_failure(millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--cpu-ops", "Conv",
                           "--hw-layout", "image=NHWC"}),
                 "CPU or collective partition");
}

TEST_F(CliTest, CpuOperatorsAreNamedAsTheModelNamesThem) {
  // Passes have merged the BatchNormalizations into convolutions before operators are placed.
  const ProgramResult result =
      millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--cpu-ops", "BatchNormalization"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("on the CPU by BatchNormalization: Conv \""));
}

TEST_F(CliTest, CompileDumpsEachPass) {
  const ProgramResult result = millrace(
      {"compile", kGlyphsOnnx, "-o", file("a.rai"), "--dump-passes", file("passes/of/glyphs")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto text_of = [&](const std::string& name) {
    const auto bytes = io::read_file(file("passes/of/glyphs/" + name));
    EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
    return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                      : std::string();
  };
  const std::string imported = text_of("00-import.txt");
  EXPECT_THAT(imported, testing::HasSubstr("\"image\" FLOAT32 [1,1,32,32]"));
  EXPECT_THAT(imported, testing::HasSubstr("  BatchNormalization \""));
  EXPECT_THAT(imported, testing::HasSubstr("strides=[1,1]"));
  std::string all;
  for (const auto& entry : fs::directory_iterator(file("passes/of/glyphs")))
    all += text_of(entry.path().filename().string());
  EXPECT_THAT(all, testing::HasSubstr("widen_half changed nothing\n"));
  EXPECT_THAT(all, testing::HasSubstr("activation=Relu"));
}

TEST_F(CliTest, CompileRefusesAFolderForPassesThatIsNone) {
  std::ofstream(file("taken")) << "text";
  expect_failure(
      millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--dump-passes", file("taken")}),
      "taken");
  EXPECT_FALSE(fs::exists(file("a.rai")));
}

TEST_F(CliTest, CompileWritesTheOptimisedNetworkAsOnnx) {
  const ProgramResult result =
      millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--emit-qdq", file("a.onnx")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProgramResult again = millrace({"compile", file("a.onnx"), "-o", file("b.rai")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const std::vector<float> picture(32 * 32, 0.5f);
  ASSERT_TRUE(io::write_file(file("image.bin"), std::as_bytes(std::span(picture))).ok());
  const ProgramResult same =
      millrace({"compare", file("a.rai"), file("b.rai"), "--input", file("image.bin")});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
}

TEST_F(CliTest, CompileWritesNoOnnxOfOpenShapes) {
  expect_failure(millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--input-shape",
                           "image=?,1,32,32", "--emit-qdq", file("static.onnx")}),
                 "--input-shape");
  EXPECT_FALSE(fs::exists(file("static.onnx")));
}

TEST_F(CliTest, CompileNeverWritesOverTheModel) {
  fs::copy(kGlyphsOnnx, file("model.onnx"));
  const auto size = fs::file_size(file("model.onnx"));
  expect_failure(millrace({"compile", file("model.onnx"), "-o", file("./model.onnx")}),
                 "choose another output");
  expect_failure(millrace({"compile", file("model.onnx"), "-o", file("a.rai"), "--emit-qdq",
                           file("model.onnx")}),
                 "choose another output");
  EXPECT_EQ(fs::file_size(file("model.onnx")), size);
}

TEST_F(CliTest, CompileRefusesAnUnwritablePath) {
  expect_failure(millrace({"compile", kGlyphsOnnx, "-o", "/nonexistent/a.rai"}),
                 "/nonexistent/a.rai");
}

}  // namespace
}  // namespace millrace::test
