#include "graph/archive/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/graph/all_operators_model.h"
#include "tests/support/archive_mutation.h"
#include "tests/support/temporary_directory.h"

namespace millrace::graph {
namespace {

using model::Archive;
using model::ArchiveForm;
using Json = nlohmann::json;
using ::testing::HasSubstr;

Result<std::shared_ptr<const Archive>> in_memory(const CompiledModel& model,
                                                 uint32_t columns = kColumnsOfAUnit) {
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(archive_bytes(encode(model, columns)));
  return Archive::from_memory(*bytes, bytes);
}

void expect_same_value(const Value& actual, const Value& expected) {
  EXPECT_EQ(actual.name, expected.name);
  EXPECT_EQ(actual.type, expected.type);
  EXPECT_EQ(actual.shape, expected.shape);
  EXPECT_EQ(actual.quantisation, expected.quantisation);
  ASSERT_EQ(actual.constant.has_value(), expected.constant.has_value());
  if (expected.constant) {
    EXPECT_TRUE(std::ranges::equal(actual.constant->bytes, expected.constant->bytes));
  }
}

void expect_same_graph(const Graph& actual, const Graph& expected) {
  ASSERT_EQ(actual.values.size(), expected.values.size());
  for (size_t i = 0; i < expected.values.size(); ++i) {
    SCOPED_TRACE(expected.values[i].name);
    expect_same_value(actual.values[i], expected.values[i]);
  }
  ASSERT_EQ(actual.nodes.size(), expected.nodes.size());
  for (size_t i = 0; i < expected.nodes.size(); ++i) {
    const Node &node = actual.nodes[i], &same = expected.nodes[i];
    SCOPED_TRACE(same.name);
    EXPECT_EQ(node.name, same.name);
    EXPECT_EQ(node.precision, same.precision);
    EXPECT_TRUE(node.op == same.op) << name_of(node.op) << " for " << name_of(same.op);
    EXPECT_EQ(node.inputs, same.inputs);
    EXPECT_EQ(node.outputs, same.outputs);
  }
  EXPECT_EQ(actual.inputs, expected.inputs);
  EXPECT_EQ(actual.outputs, expected.outputs);
}

void expect_same_boundaries(const std::vector<Boundary>& actual,
                            const std::vector<Boundary>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].value, expected[i].value);
    EXPECT_EQ(actual[i].cpu, expected[i].cpu);
    EXPECT_EQ(actual[i].hw, expected[i].hw);
    EXPECT_EQ(actual[i].quant, expected[i].quant);
  }
}

void expect_same_model(const CompiledModel& actual, const CompiledModel& expected) {
  EXPECT_EQ(actual.name, expected.name);
  EXPECT_EQ(actual.producer, expected.producer);
  EXPECT_EQ(actual.precision, expected.precision);
  EXPECT_EQ(actual.batch_size, expected.batch_size);
  expect_same_graph(actual.graph, expected.graph);
  expect_same_boundaries(actual.inputs, expected.inputs);
  expect_same_boundaries(actual.outputs, expected.outputs);
  ASSERT_EQ(actual.partitions.size(), expected.partitions.size());
  for (size_t i = 0; i < expected.partitions.size(); ++i) {
    EXPECT_EQ(actual.partitions[i].kind, expected.partitions[i].kind);
    EXPECT_EQ(actual.partitions[i].first, expected.partitions[i].first);
    EXPECT_EQ(actual.partitions[i].count, expected.partitions[i].count);
  }
  ASSERT_EQ(actual.plan.size(), expected.plan.size());
  for (size_t i = 0; i < expected.plan.size(); ++i) {
    EXPECT_EQ(actual.plan[i].value, expected.plan[i].value);
    EXPECT_EQ(actual.plan[i].offset, expected.plan[i].offset);
    EXPECT_EQ(actual.plan[i].bytes, expected.plan[i].bytes);
  }
  EXPECT_EQ(actual.arena_bytes, expected.arena_bytes);
}

TEST(ArchiveCodec, TheTestModelHoldsEveryOperator) {
  std::vector<bool> seen(std::variant_size_v<Operator>);
  for (const Node& node : test::all_operators_model().graph.nodes) seen[node.op.index()] = true;
  EXPECT_THAT(seen, ::testing::Each(true));
}

class ArchiveCodecForms : public ::testing::TestWithParam<ArchiveForm> {};

TEST_P(ArchiveCodecForms, RoundTripKeepsEverything) {
  const test::TemporaryDirectory directory;
  const CompiledModel expected = test::all_operators_model();
  const std::string path = directory.file("model.rai");
  ASSERT_TRUE(model::write_archive(encode(expected), path, GetParam()).ok());
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  auto actual = decode(*archive);
  ASSERT_TRUE(actual.ok()) << actual.status().to_string();
  expect_same_model(*actual, expected);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ArchiveCodec, TheColumnsOfTheModelAreKept) {
  const CompiledModel model = test::all_operators_model();
  EXPECT_EQ(columns_of(**in_memory(model)).value(), 4u);
  for (const uint32_t columns : {4u, 24u, kMostColumnsOfAModel})
    EXPECT_EQ(columns_of(**in_memory(model, columns)).value(), columns);
  for (const uint32_t wrong : {0u, 5u, kMostColumnsOfAModel + 4}) {
    const Status refused = decode(*in_memory(model, wrong)).status();
    EXPECT_EQ(refused.code(), StatusCode::kCorruptData);
    EXPECT_THAT(refused.message(), HasSubstr(std::to_string(wrong) + " columns are not"));
  }
}

TEST(ArchiveCodec, TheDirectoryFormShowsThePartsAndHowTheyHangTogether) {
  const test::TemporaryDirectory directory;
  const CompiledModel model = test::all_operators_model();
  const std::string path = directory.file("parts");
  ASSERT_TRUE(model::write_archive(encode(model), path, ArchiveForm::kDirectory).ok());
  const auto connectivity = Json::parse(text_of(path + "/connectivity_metadata.json"));
  EXPECT_EQ(connectivity["execution_order"], Json({"vaiml_par_0", "vaiml_cpu_subgraph_0"}));
  const Json& edges = connectivity["edges"];
  ASSERT_EQ(edges.size(), 2u + 1 + 3) << "two inputs, one tensor between the parts, three outputs";
  EXPECT_EQ(edges[0]["tensor"], "image");
  EXPECT_EQ(edges[0]["shape"], Json({1, 4, 8, 8}));
  EXPECT_EQ(edges[0]["from"], "model_input");
  EXPECT_EQ(edges[2]["from"], "vaiml_par_0");
  EXPECT_EQ(edges[2]["to"], "vaiml_cpu_subgraph_0");
  const auto part = Json::parse(text_of(path + "/vaiml_cpu_subgraph_0/subgraph.json"));
  EXPECT_EQ(part["kind"], "CPU");
  EXPECT_EQ(part["operators"][0]["operator"], "com.example.EveryKind");
  EXPECT_EQ(part["inputs"], Json::array({edges[2]["tensor"]}));
  EXPECT_EQ(part["outputs"], Json::array({model.outputs[2].cpu.name}));
}

TEST(ArchiveCodec, TheDirectoryFormOfAModelWithoutCpuPartitionsIsTheArchiveAlone) {
  const test::TemporaryDirectory directory;
  CompiledModel model = test::all_operators_model();
  model.partitions[1].kind = PartitionKind::kNpu;
  const std::string path = directory.file("parts");
  ASSERT_TRUE(model::write_archive(encode(model), path, ArchiveForm::kDirectory).ok());
  EXPECT_FALSE(std::filesystem::exists(path + "/connectivity_metadata.json"));
  EXPECT_FALSE(std::filesystem::exists(path + "/vaiml_par_0/subgraph.json"));
}

TEST(ArchiveCodec, TheDirectoryFormReplacesOneWithOtherParts) {
  const test::TemporaryDirectory directory;
  CompiledModel model = test::all_operators_model();
  const std::string path = directory.file("parts");
  ASSERT_TRUE(model::write_archive(encode(model), path, ArchiveForm::kDirectory).ok());
  model.partitions[1].kind = PartitionKind::kNpu;
  const Status again = model::write_archive(encode(model), path, ArchiveForm::kDirectory);
  EXPECT_TRUE(again.ok()) << again.to_string();
  EXPECT_FALSE(std::filesystem::exists(path + "/vaiml_cpu_subgraph_0"));
}

INSTANTIATE_TEST_SUITE_P(Forms, ArchiveCodecForms,
                         ::testing::Values(ArchiveForm::kFile, ArchiveForm::kDirectory),
                         [](const auto& info) {
                           return info.param == ArchiveForm::kFile ? "File" : "Directory";
                         });

TEST(ArchiveCodec, RoundTripsThroughMemory) {
  const CompiledModel expected = test::all_operators_model();
  auto archive = in_memory(expected);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  auto actual = decode(*archive);
  ASSERT_TRUE(actual.ok()) << actual.status().to_string();
  expect_same_model(*actual, expected);
}

TEST(ArchiveCodec, TheSameModelGivesTheSameBytes) {
  const auto first = archive_bytes(encode(test::all_operators_model()));
  const auto second = archive_bytes(encode(test::all_operators_model()));
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first, second);
}

TEST(ArchiveCodec, ADecodedModelEncodesToTheSameBytes) {
  const CompiledModel model = test::all_operators_model();
  auto archive = in_memory(model);
  ASSERT_TRUE(archive.ok());
  auto decoded = decode(*archive);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(archive_bytes(encode(*decoded)), archive_bytes(encode(model)));
}

TEST(ArchiveCodec, ConstantsAreUsedInPlaceAndKeepTheArchiveAlive) {
  auto archive = in_memory(test::all_operators_model());
  ASSERT_TRUE(archive.ok());
  const std::byte* first_segment = (*archive)->segment(0).data();
  std::weak_ptr<const Archive> watch = *archive;
  auto decoded = decode(*std::move(archive));
  ASSERT_TRUE(decoded.ok());

  const auto& values = decoded->graph.values;
  const auto first =
      std::ranges::find_if(values, [](const Value& value) { return value.constant.has_value(); });
  EXPECT_EQ(first->constant->bytes.data(), first_segment);
  archive = internal_error("released");
  EXPECT_FALSE(watch.expired());
  decoded = internal_error("released");
  EXPECT_TRUE(watch.expired());
}

TEST(ArchiveCodec, DamagedWeightsAreRefusedWhenAModelIsDecoded) {
  std::vector<std::byte> bytes = archive_bytes(encode(test::all_operators_model()));
  bytes.back() ^= std::byte{1};
  auto archive = Archive::from_memory(bytes, nullptr);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  const Status status = decode(*archive).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruptData);
  EXPECT_THAT(status.message(), HasSubstr("checksum"));
}

// A reader of an older version takes the archive for a newer one.
TEST(ArchiveCodec, OnlyAnArchiveWithQuantisedValuesHasTheirVersion) {
  CompiledModel model = test::all_operators_model();
  EXPECT_EQ(test::load_at<uint32_t>(archive_bytes(encode(model)), 8), 3u);
  for (Value& value : model.graph.values) value.quantisation.reset();
  EXPECT_EQ(test::load_at<uint32_t>(archive_bytes(encode(model)), 8), 1u);
}

// A reader that does not know of them would compute something else.
TEST(ArchiveCodec, PrecisionsOfNodesComeBackFromAnArchiveOfTheirVersion) {
  CompiledModel model = test::all_operators_model();
  model.graph.nodes.front().precision = Precision::kFp32;
  model.graph.nodes.back().precision = Precision::kBf16;
  auto archive = in_memory(model);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  auto decoded = decode(*archive);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  expect_same_graph(decoded->graph, model.graph);
  for (Value& value : model.graph.values) value.quantisation.reset();
  EXPECT_EQ(test::load_at<uint32_t>(archive_bytes(encode(model)), 8), 3u);
}

}  // namespace
}  // namespace millrace::graph
