// Real models become valid graphs with the boundaries that the manifest states.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/onnx/network_reader.h"
#include "graph/graph.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/support/test_models.h"

namespace millrace::compiler::test {
namespace {

struct ModelCase {
  const char* id;  // in the manifest
  InputShapes input_shapes = {};
};

void PrintTo(const ModelCase& model, std::ostream* out) {
  *out << model.id;
}

class ImportModels : public testing::TestWithParam<ModelCase> {};

tensor::DataType type_of(const nlohmann::json& tensor) {
  return tensor["dtype"] == "float16" ? tensor::DataType::kFp16 : tensor::DataType::kFloat32;
}

// Cases of the manifest run several frames at once; a graph is of one.
void expect_boundary(const graph::Graph& graph, const std::vector<graph::ValueId>& ids,
                     const nlohmann::json& tensors) {
  ASSERT_EQ(ids.size(), tensors.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const graph::Value& value = graph.values[ids[i]];
    Dims shape = tensors[i]["shape"].get<Dims>();
    shape[0] = 1;
    EXPECT_EQ(value.name, tensors[i]["name"].get<std::string>());
    EXPECT_EQ(value.shape, shape) << value.name;
    EXPECT_EQ(value.type, type_of(tensors[i])) << value.name;
  }
}

TEST_P(ImportModels, ValidGraphWithTheBoundariesOfTheManifest) {
  const auto manifest_path = millrace::test::test_model("manifest.json");
  if (!manifest_path) GTEST_SKIP() << "no test models beside the project";
  std::ifstream file(*manifest_path);
  const auto manifest = nlohmann::json::parse(file);
  for (const auto& entry : manifest["cases"]) {
    if (entry["id"] != GetParam().id) continue;
    const auto model = millrace::test::test_model(entry["model"].get<std::string>());
    ASSERT_TRUE(model);
    const auto graph = lower(read_network_file(*model), GetParam().input_shapes);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    EXPECT_TRUE(graph::validate(*graph).ok()) << graph::validate(*graph).to_string();
    expect_boundary(*graph, graph->inputs, entry["inputs"]);
    expect_boundary(*graph, graph->outputs, entry["outputs"]);
    return;
  }
  FAIL() << "the manifest has no case " << GetParam().id;
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, ImportModels,
    testing::Values(ModelCase{"squeezenet_fp32-kitten_224"},
                    ModelCase{"squeezenet_fp16-kitten_224"}, ModelCase{"mobilenetv2_fp32-rand"},
                    ModelCase{"mnist-rand"}, ModelCase{"cifar10_cnn-rand"},
                    ModelCase{"ultraface_rfb320-astronaut"}, ModelCase{"yunet_n_320-astronaut"},
                    ModelCase{"yunet_n_dynamic-rand", {{"input", {1, 3, 96, 160}}}},
                    ModelCase{"fastestdet-golden_retriever"}, ModelCase{"light_resnet50-rand"},
                    ModelCase{"light_densenet121-rand"}, ModelCase{"light_shufflenet-rand"},
                    ModelCase{"light_inception_v2-rand"}, ModelCase{"light_squeezenet-rand"}),
    [](const auto& info) {
      std::string name = info.param.id;
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace millrace::compiler::test
