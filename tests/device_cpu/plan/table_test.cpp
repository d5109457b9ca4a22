// Tables of kernel times: what is looked up in them, those that the device ships, and damaged ones.
#include "device/cpu/plan/table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "device/cpu/plan/network.h"
#include "device/cpu/plan/table/shipped.h"
#include "tests/device_cpu/model_builder.h"

namespace millrace::device::cpu::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kText =
    "# A comment\n"
    "conv f32 dense 3 1 64 64 28 blocked 300000 winograd 100000\n"
    "conv f32 dense 3 1 64 64 56 blocked 1300000 winograd 450000\n"
    "conv f32 dense 1 1 64 24 28 blocked 900 channels-last 800\n"
    "conv f32 depthwise 3 1 64 64 28 blocked 5000\n"
    "move f32 1000 plain blocks 100\n"
    "move f32 8000 plain blocks 1600\n";

Table example() {
  return Table::parse(kText).value();
}

Layer layer(uint64_t channels, uint64_t side) {
  return {ElementType::f32, LayerKind::kDense, 3, 1, channels, channels, side * side};
}

TEST(KernelTable, HasTheTimesOfItsLayers) {
  const std::vector<FormTime> expected = {{Form::kBlocked, 300000}, {Form::kWinograd, 100000}};
  EXPECT_EQ(example().times(layer(64, 28)), expected);
}

TEST(KernelTable, TimesOfTheNearestLayerAreInProportionToItsProducts) {
  // 28x28 is nearer than 56x56 to 32x32, which has 64/49 of its elements.
  EXPECT_THAT(example().times(layer(64, 32)),
              ElementsAre(FormTime{Form::kBlocked, 391836}, FormTime{Form::kWinograd, 130612}));
  Layer two = layer(64, 28);
  two.images = 2;
  EXPECT_EQ(example().times(two)[0].nanoseconds, 600000u);
  EXPECT_EQ(example().times(layer(64, 48))[0].nanoseconds, 955102u);  // of 56x56
}

TEST(KernelTable, OfTwoLayersThatAreEquallyNearItTakesTheFirst) {
  const auto row = [](uint64_t channels, const char* time) {
    return "conv f32 dense 1 1 " + std::to_string(channels) + " 64 28 blocked " + time + "\n";
  };
  // For these, the differences of logarithms are not equal, to one side or to the other.
  for (const uint64_t channels : {32, 64, 96, 544, 992}) {
    SCOPED_TRACE(channels);
    const Layer asked{ElementType::f32, LayerKind::kDense, 1, 1, channels, 64, 28 * 28};
    const uint64_t few = channels / 2, many = channels * 2;
    const auto time = [&](const std::string& text) {
      return Table::parse(text).value().times(asked).at(0).nanoseconds;
    };
    EXPECT_NEAR(static_cast<double>(time(row(few, "1000") + row(many, "9000"))), 2000, 1);
    EXPECT_NEAR(static_cast<double>(time(row(many, "9000") + row(few, "1000"))), 4500, 1);
  }
}

TEST(KernelTable, ALayerThatHasNoneNearHasNoTimes) {
  EXPECT_THAT(example().times(layer(256, 28)), IsEmpty());
  EXPECT_THAT(example().times(layer(64, 7)), IsEmpty());
  EXPECT_THAT(example().times(layer(72, 28)), IsEmpty());  // not in whole blocks of channels
  for (const auto& change : std::vector<void (*)(Layer&)>{
           [](Layer& each) { each.type = ElementType::bf16; }, [](Layer& each) { each.taps = 5; },
           [](Layer& each) { each.stride = 2; },
           [](Layer& each) { each.kind = LayerKind::kSeparable; }}) {
    Layer other = layer(64, 28);
    change(other);
    EXPECT_THAT(example().times(other), IsEmpty());
  }
}

TEST(KernelTable, SizesOfAnyKindOverflowNothing) {
  Layer large = layer(64, 28);
  large.images = ~uint64_t{0};
  EXPECT_EQ(example().times(large)[0].nanoseconds, 1'000'000'000'000u);
  large.elements = large.channels_in = large.channels_out = ~uint64_t{0};
  EXPECT_THAT(example().times(large), IsEmpty());
  EXPECT_EQ(
      example().move(ElementType::f32, ~uint64_t{0}, ImageLayout::kPlain, ImageLayout::kBlocks),
      1'000'000'000'000u);
}

TEST(KernelTable, MovesAreInProportionToTheNearestNumberOfElements) {
  const Table table = example();
  const auto move = [&](uint64_t elements) {
    return table.move(ElementType::f32, elements, ImageLayout::kPlain, ImageLayout::kBlocks);
  };
  EXPECT_EQ(move(2000), 200u);
  EXPECT_EQ(move(4000), 800u);
  EXPECT_EQ(table.move(ElementType::f32, 1000, ImageLayout::kBlocks, ImageLayout::kPlain),
            std::nullopt);
}

TEST(KernelTable, LinesThatMakeNoSenseAreNamed) {
  for (const std::string line : {"hello",
                                 "conv",
                                 "conv f32 dense 3 1 64 64 28",
                                 "conv f32 dense 3 1 64 64 28 blocked",
                                 "conv f64 dense 3 1 64 64 28 blocked 1",
                                 "conv f32 flat 3 1 64 64 28 blocked 1",
                                 "conv f32 dense 3 1 64 64 28 spiral 1",
                                 "conv f32 dense 3 1 64 64 28 blocked 0",
                                 "conv f32 dense 3 1 64 64 28 blocked -1",
                                 "conv f32 dense 3 0 64 64 28 blocked 1",
                                 "conv f32 dense 3 1 0 64 28 blocked 1",
                                 "conv f32 dense 3 1 64 64 0 blocked 1",
                                 "conv f32 dense 3 1 64 64 1048577 blocked 1",
                                 "conv f32 dense 3 1 18446744073709551615 64 28 blocked 1",
                                 "conv f32 dense 3 1 64 64 28 blocked 1000000000001",
                                 "conv f32 dense 3 1 64 64 28 blocked 1 blocked 2",
                                 "conv  f32 dense 3 1 64 64 28 blocked 1",
                                 "move f32 0 plain blocks 1",
                                 "move f32 1 plain round 1",
                                 "move f32 1 plain blocks",
                                 "move f32 1 plain blocks 99999999999999999999"}) {
    const Result<Table> table = Table::parse("# A comment\n" + line + "\n");
    EXPECT_EQ(table.status().code(), StatusCode::kCorruptData) << line;
    EXPECT_THAT(table.status().message(), HasSubstr("line 2 ")) << line;
  }
}

TEST(ShippedTables, MakeSense) {
  for (const ShippedTable& shipped : shipped_tables()) {
    const Result<Table> table = Table::parse(shipped.text);
    ASSERT_TRUE(table.ok()) << shipped.name << ": " << table.status().message();
    const ElementType type =
        std::string(shipped.name).starts_with("avx") && !std::string(shipped.name).ends_with("bf16")
            ? ElementType::f32
            : ElementType::bf16;
    Layer typical = layer(64, 28);
    typical.type = type;
    EXPECT_GE(table->times(typical).size(), 2u) << shipped.name;
    using enum ImageLayout;
    for (const auto& [from, to] : {std::pair{kPlain, kBlocks},
                                   {kPlain, kInnermost},
                                   {kBlocks, kPlain},
                                   {kBlocks, kInnermost},
                                   {kInnermost, kPlain},
                                   {kInnermost, kBlocks},
                                   {kInnermost, kInnermost}})
      EXPECT_TRUE(table->move(type, 1000, from, to)) << shipped.name;
  }
}

// Convolutions of 3x3 taps with so many channels, one after the other.
std::shared_ptr<const graph::CompiledModel> network(const std::vector<int64_t>& channels) {
  ModelBuilder builder;
  graph::ValueId x = builder.input({1, channels[0], 28, 28});
  for (size_t i = 0; i + 1 < channels.size(); ++i)
    x = builder.node(
        graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}},
        {x, builder.constant(Tensor::numbers({channels[i + 1], channels[i], 3, 3}, 3))});
  builder.output(x);
  return builder.build();
}

std::vector<Form> cheapest_forms(const graph::CompiledModel& model, const Table& table,
                                 const Rule& rule) {
  TableTimes times(table);
  const auto found =
      describe(model, ElementType::f32, Division(model, ElementType::f32, 1), times, &rule);
  if (!found) return {};
  std::vector<Form> forms;
  const std::vector<uint32_t> chosen = cheapest(found->problem);
  for (size_t i = 0; i < chosen.size(); ++i) forms.push_back(found->candidates[i][chosen[i]].form);
  return forms;
}

std::string times_of(uint64_t blocked, uint64_t innermost) {
  std::string text = "conv f32 dense 3 1 64 64 28 blocked " + std::to_string(blocked) +
                     " channels-last " + std::to_string(innermost) + "\n";
  for (const char* layouts : {"plain blocks", "plain innermost", "blocks plain", "innermost plain",
                              "blocks innermost", "innermost blocks"})
    text += std::string("move f32 50176 ") + layouts + " 100\n";
  return text;
}

TEST(ShippedTables, AnotherFormIsTakenWhereItIsMuchFasterThanTheRule) {
  const auto model = network({64, 64, 64});
  const Rule rule{{Form::kBlocked, Form::kBlocked}, 10};
  const auto forms = [&](uint64_t blocked, uint64_t innermost) {
    return cheapest_forms(*model, Table::parse(times_of(blocked, innermost)).value(), rule);
  };
  EXPECT_THAT(forms(100'000, 95'000), ElementsAre(Form::kBlocked, Form::kBlocked));
  EXPECT_THAT(forms(100'000, 80'000), ElementsAre(Form::kChannelsLast, Form::kChannelsLast));
}

// A convolution of one pixel and a depthwise one, which take 60000 and 40000 alone.
TEST(ShippedTables, OneStepForTwoConvolutionsHasAnAdvantageOfItsOwn) {
  ModelBuilder builder;
  const graph::ValueId between = builder.node(
      graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
      {builder.input({1, 32, 28, 28}), builder.constant(Tensor::numbers({64, 32, 1, 1}, 3))});
  builder.output(builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 64, {}},
                              {between, builder.constant(Tensor::numbers({64, 1, 3, 3}, 4))}));
  const auto model = builder.build();
  const Rule rule{{Form::kSeparable, Form::kSeparable}, 10, 15};
  EXPECT_EQ(rule.percent_more_for(0), 15u);
  EXPECT_EQ((Rule{{Form::kBlocked}, 10, 15}.percent_more_for(0)), 10u);
  const auto forms = [&](const char* step) {
    const std::string text = times_of(1000, 1000) +
                             "conv f32 dense 1 1 32 64 28 blocked 60000\n"
                             "conv f32 depthwise 3 1 64 64 28 blocked 40000\n"
                             "conv f32 separable 3 1 32 64 28 separable " +
                             step + "\n";
    return cheapest_forms(*model, Table::parse(text).value(), rule);
  };
  EXPECT_THAT(forms("113000"), ElementsAre(Form::kSeparable, Form::kSeparable));
  EXPECT_THAT(forms("117000"), ElementsAre(Form::kBlocked, Form::kBlocked));
}

TEST(ShippedTables, AConvolutionThatTheyDoNotKnowHasTheFormOfTheRule) {
  const auto model = network({64, 64, 1024});
  const Table table = Table::parse(times_of(100'000, 50'000)).value();
  for (const Form usual : {Form::kBlocked, Form::kWinograd, Form::kChannelsLast})
    EXPECT_THAT(cheapest_forms(*model, table, {{Form::kBlocked, usual}, 10}),
                ElementsAre(Form::kChannelsLast, usual));
  // No plan follows from times that lack reorders.
  EXPECT_THAT(cheapest_forms(*model, Table(), {{Form::kBlocked, Form::kWinograd}, 10}), IsEmpty());
}

}  // namespace
}  // namespace millrace::device::cpu::plan
