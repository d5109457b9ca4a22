#include "quantise/quantise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quantise/calibrate/collect.h"
#include "quantise/measure/layer_agreement.h"
#include "quantise/rewrite/equalise.h"
#include "small_network.h"

namespace millrace::quantise {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

QuantiseOptions options() {
  QuantiseOptions options;
  options.finish = finish;
  return options;
}

TEST(Quantise, ComputesNearlyTheSameOnIntegers) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  const auto samples = random_samples(8);
  const auto made = quantise(*model, samples, options());
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_GT(made->outputs.worst_cosine, 0.995);
  EXPECT_LT(made->outputs.worst_cosine, 1);
  EXPECT_THAT(made->warnings, IsEmpty());
  // The input and three convolutions.
  ASSERT_EQ(made->layers.size(), 4U);
  EXPECT_EQ(made->layers[0].operator_name, "Input");
  for (const LayerAccount& layer : made->layers) EXPECT_GT(layer.snr_db, 25) << layer.name;
  const auto& values = made->model.graph.values;
  EXPECT_TRUE(std::ranges::any_of(values, [](const graph::Value& value) {
    return value.constant && value.type == tensor::DataType::kInt8;
  }));
  // The tensors that the caller sees are as they were.
  EXPECT_EQ(made->model.outputs[0].cpu, model->outputs[0].cpu);
  EXPECT_EQ(made->model.inputs[0].cpu, model->inputs[0].cpu);
}

TEST(Quantise, WeightsThatAreNotFiniteStayFloatingPoint) {
  graph::Graph graph = small_graph();
  const graph::ValueId weight = graph.nodes.back().inputs[1];
  std::vector<float> elements(graph.values[weight].elements(), 1.0F);
  elements[0] = std::nanf("");
  graph.values[weight].constant = graph::Constant::of(elements);
  const auto model = finish(std::move(graph));
  ASSERT_TRUE(model.ok());
  const auto made = quantise(*model, random_samples(2), options());
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_EQ(made->layers.size(), 3U);
  EXPECT_EQ(made->layers.back().name, "second");
}

TEST(OutputAgreement, NaNsAgreeWithNothing) {
  const OutputAgreement agreement = compare_outputs({{{1, 2}}}, {{{1, std::nanf("")}}}, false);
  EXPECT_EQ(agreement.worst_cosine, 0);
  EXPECT_EQ(agreement.error(), 1);
}

TEST(Quantise, BiasCorrectionBringsMeansCloser) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  const auto samples = random_samples(8);
  const auto exact = run_outputs(*model, samples);
  ASSERT_TRUE(exact.ok());
  const auto mean_error = [&](bool corrects) {
    QuantiseOptions chosen = options();
    chosen.correct_bias = corrects;
    chosen.equalise = false;
    const auto made = quantise(*model, samples, chosen);
    EXPECT_TRUE(made.ok());
    const auto run = run_outputs(made->model, samples);
    EXPECT_TRUE(run.ok());
    std::vector<double> shift(4);
    for (size_t sample = 0; sample < samples.size(); ++sample)
      for (size_t i = 0; i < 256; ++i)
        shift[i / 64] += run->values[sample][0][i] - exact->values[sample][0][i];
    double sum = 0;
    for (const double channel : shift) sum += channel * channel;
    return sum;
  };
  EXPECT_LT(mean_error(true), mean_error(false));
}

TEST(Quantise, KeepsNamedNodesInFloatingPoint) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  QuantiseOptions chosen = options();
  chosen.float_names = {"second"};
  const auto made = quantise(*model, random_samples(4), chosen);
  ASSERT_TRUE(made.ok()) << made.status().message();
  for (const LayerAccount& layer : made->layers) EXPECT_NE(layer.name, "second");
  EXPECT_EQ(made->layers.size(), 3U);  // the input, the first and the last
}

TEST(Quantise, NamesThatMatchNothingAreRefused) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  QuantiseOptions chosen = options();
  chosen.float_names = {"thrid"};
  const auto made = quantise(*model, random_samples(4), chosen);
  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("thrid"));
}

TEST(Quantise, NothingToQuantiseIsAnError) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  QuantiseOptions chosen = options();
  chosen.float_names = {"Conv"};
  EXPECT_EQ(quantise(*model, random_samples(4), chosen).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Quantise, ATightTargetKeepsLayers) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  const auto samples = random_samples(4);
  const auto without = quantise(*model, samples, options());
  ASSERT_TRUE(without.ok());
  QuantiseOptions chosen = options();
  chosen.max_error = without->outputs.error() / 2;
  const auto made = quantise(*model, samples, chosen);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(made->target_holds);
  EXPECT_LE(made->outputs.error(), *chosen.max_error);
  EXPECT_TRUE(std::ranges::any_of(
      made->layers, [](const LayerAccount& layer) { return layer.kept_in.has_value(); }));
  EXPECT_TRUE(made->ms_without_kept.has_value());
}

// The precisions that layers of a model are kept in for a target; empty strings for INT8.
std::vector<std::string> kept_in(graph::Graph graph, double target) {
  const auto model = finish(std::move(graph));
  QuantiseOptions chosen = options();
  chosen.max_error = target;
  const auto made = quantise(*model, random_samples(4), chosen);
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (!made.ok()) return {};
  EXPECT_TRUE(made->target_holds);
  EXPECT_LE(made->outputs.error(), target);
  std::vector<std::string> kept;
  for (const LayerAccount& layer : made->layers)
    kept.emplace_back(layer.kept_in ? graph::name_of(*layer.kept_in) : "");
  return kept;
}

TEST(Quantise, LayersAreKeptInBf16WhereThatIsEnough) {
  if (!computes_in_bf16()) GTEST_SKIP() << "this processor has no BF16";
  EXPECT_THAT(kept_in(small_graph(), 5e-5), Contains("bf16"));
  EXPECT_THAT(kept_in(small_graph(), 5e-5), Not(Contains("fp32")));
}

TEST(Quantise, LayersAreKeptInFp32WhereBf16IsNot) {
  EXPECT_THAT(kept_in(cancelling_graph(), 1e-3), Contains("fp32"));
}

TEST(Quantise, NoSamplesAndWrongOnesAreRefused) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(quantise(*model, {}, options()).status().code(), StatusCode::kInvalidArgument);
  const std::vector short_one = {sample_of("short", random_floats(5, 1))};
  EXPECT_EQ(quantise(*model, short_one, options()).status().code(), StatusCode::kInvalidArgument);
}

TEST(Quantise, ANanIsAnErrorThatNamesTheSample) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  auto samples = random_samples(3);
  auto floats = random_floats(192, 3);
  floats[7] = std::nanf("");
  samples.push_back(sample_of("the bad one", floats));
  const auto made = quantise(*model, samples, options());
  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("the bad one"));
}

TEST(Quantise, WarnsOfSamplesThatSayLittle) {
  const auto model = finish(small_graph());
  ASSERT_TRUE(model.ok());
  const auto one = quantise(*model, random_samples(1), options());
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_THAT(one->warnings, Contains(HasSubstr("one sample")));
  const std::vector constant = {sample_of("a", std::vector<float>(192, 1.0F)),
                                sample_of("b", std::vector<float>(192, 2.0F))};
  const auto flat = quantise(*model, constant, options());
  ASSERT_TRUE(flat.ok()) << flat.status().message();
  EXPECT_THAT(flat->warnings, Contains(HasSubstr("'x'")));
  const std::vector zeros(2, sample_of("zero", std::vector<float>(192)));
  const auto zero = quantise(*model, zeros, options());
  ASSERT_TRUE(zero.ok()) << zero.status().message();
  EXPECT_THAT(zero->warnings, Contains(HasSubstr("'x' was zero")));
}

// The calibrated small network, with its quantisation still to be changed.
struct Prepared {
  graph::CompiledModel model;
  Quantised quantised;
};

Prepared prepare(std::span<const Sample> samples) {
  Prepared prepared{*finish(small_graph()), {}};
  const graph::Graph& graph = prepared.model.graph;
  prepared.quantised.selection = *select_nodes(graph, {});
  prepared.quantised.calibration =
      *calibrate(prepared.model, samples, prepared.quantised.selection.values);
  prepared.quantised.encodings = choose_encodings(
      graph, prepared.quantised.selection, prepared.quantised.calibration, {RangeMethod::kMinMax});
  return prepared;
}

TEST(LayerAgreement, ACorruptedScaleIsTheWorstLayerAndNoOther) {
  const auto samples = random_samples(4);
  for (const size_t corrupted : {size_t{0}, size_t{1}}) {
    Prepared prepared = prepare(samples);
    const graph::Node& node = prepared.model.graph.nodes[corrupted];
    prepared.quantised.encodings[node.outputs[0]]->quantisation.scales[0] /= 16;
    const ProbedGraph probed = probe_layers(prepared.model.graph, prepared.quantised);
    const auto differences = measure_probes(probed, samples);
    ASSERT_TRUE(differences.ok()) << differences.status().message();
    const auto worst = std::ranges::min_element(*differences, {}, &Difference::snr_db);
    const Probe& probe = probed.probes[static_cast<size_t>(worst - differences->begin())];
    EXPECT_EQ(probe.node, corrupted);
    EXPECT_LT(worst->snr_db(), 10);
    EXPECT_EQ(std::ranges::count_if(*differences, [](const auto& d) { return d.snr_db() < 25; }),
              1);
  }
}

TEST(Equalise, LeavesWhatTheGraphComputes) {
  const auto samples = random_samples(3);
  Prepared prepared = prepare(samples);
  graph::CompiledModel equal = prepared.model;
  EXPECT_EQ(equalise(equal.graph, prepared.quantised.calibration), 2U);
  const auto before = run_outputs(prepared.model, samples);
  const auto after = run_outputs(equal, samples);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_GT(compare_outputs(before->values, after->values, false).worst_cosine, 0.9999999);
}

TEST(InsertRequantise, LeavesAValidGraphWithTheSameBoundaries) {
  const auto samples = random_samples(3);
  const Prepared prepared = prepare(samples);
  const graph::Graph graph = insert_requantise(prepared.model.graph, prepared.quantised);
  EXPECT_TRUE(graph::validate(graph).ok());
  EXPECT_EQ(graph.inputs, prepared.model.graph.inputs);
  EXPECT_EQ(graph.outputs, prepared.model.graph.outputs);
  EXPECT_EQ(std::ranges::count_if(graph.nodes,
                                  [](const graph::Node& node) {
                                    return std::holds_alternative<graph::Requantise>(node.op);
                                  }),
            6);  // pairs of the input and of the two values between the convolutions
}

TEST(Selection, OutputsAreQuantisedWhereThatIsAskedFor) {
  const graph::Graph graph = small_graph();
  EXPECT_FALSE(select_nodes(graph, {})->values[graph.outputs[0]]);
  SelectionOptions options;
  options.quantise_outputs = true;
  EXPECT_TRUE(select_nodes(graph, options)->values[graph.outputs[0]]);
}

}  // namespace
}  // namespace millrace::quantise
