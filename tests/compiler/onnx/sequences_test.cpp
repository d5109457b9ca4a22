// Sequences of tensors are gone after the import: operators on them become those on their members.
#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::compiler::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Constants a = 1, b = 2, c = 3 and 4, and positions; the sequence s holds a, b and c.
Model model() {
  Model model(13);
  model.input("unused", {1});
  model.floats("a", {1}, {1}).floats("b", {1}, {2}).floats("c", {2}, {3, 4});
  for (const int64_t position : {-4, -1, 0, 1, 3, 4})
    model.constant(int_tensor("at" + std::to_string(position), {}, {position}));
  return model.node("SequenceConstruct", {"a", "b", "c"}, {"s"});
}

Floats values_of(const Model& model) {
  const auto results = lowering::interpret(import_valid(model));
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? (*results)[0] : Floats();
}

// All members of the sequence `name`, behind each other.
Floats members_of(Model model, const std::string& name) {
  return values_of(model.node("ConcatFromSequence", {name}, {"y"}, {{"axis", 0}}).output("y"));
}

std::string refusal(const Model& model) {
  return import_failure(model).message();
}

TEST(Sequences, AreMadeAndJoined) {
  EXPECT_THAT(members_of(model(), "s"), ElementsAre(1, 2, 3, 4));
  Model grown = model().node("SequenceEmpty", {}, {"none"});
  grown.node("SequenceInsert", {"none", "b"}, {"one"})
      .node("SequenceInsert", {"one", "a"}, {"two"});
  EXPECT_THAT(members_of(grown, "two"), ElementsAre(2, 1));
}

TEST(Sequences, HaveMembersAtPositions) {
  EXPECT_THAT(values_of(model().node("SequenceAt", {"s", "at1"}, {"y"}).output("y")),
              ElementsAre(2));
  EXPECT_THAT(values_of(model().node("SequenceAt", {"s", "at-1"}, {"y"}).output("y")),
              ElementsAre(3, 4));
  for (const char* position : {"at3", "at-4"})
    EXPECT_THAT(refusal(model().node("SequenceAt", {"s", position}, {"y"}).output("y")),
                HasSubstr("out of range for 3 tensors"));
}

TEST(Sequences, TakeMembersInAndLoseThem) {
  EXPECT_THAT(members_of(model().node("SequenceInsert", {"s", "b", "at0"}, {"t"}), "t"),
              ElementsAre(2, 1, 2, 3, 4));
  EXPECT_THAT(members_of(model().node("SequenceInsert", {"s", "b", "at-1"}, {"t"}), "t"),
              ElementsAre(1, 2, 2, 3, 4));
  EXPECT_THAT(members_of(model().node("SequenceInsert", {"s", "b", "at3"}, {"t"}), "t"),
              ElementsAre(1, 2, 3, 4, 2));
  EXPECT_THAT(members_of(model().node("SequenceErase", {"s"}, {"t"}), "t"), ElementsAre(1, 2));
  EXPECT_THAT(members_of(model().node("SequenceErase", {"s", "at0"}, {"t"}), "t"),
              ElementsAre(2, 3, 4));
  EXPECT_THAT(refusal(model().node("SequenceInsert", {"s", "b", "at4"}, {"t"}).output("t")),
              HasSubstr("out of range for 3 tensors"));
}

TEST(Sequences, HaveALength) {
  Model counted = model().node("SequenceLength", {"s"}, {"n"});
  counted.node("Cast", {"n"}, {"y"}, {{"to", 1}});
  EXPECT_THAT(values_of(counted.output("y")), ElementsAre(3));
}

TEST(Sequences, AreThePartsOfATensor) {
  const auto split = [](const Names& operands, const Attributes& attributes) {
    Model model(13);
    model.input("unused", {1}).floats("x", {3, 2}, {1, 2, 3, 4, 5, 6});
    model.constant(int_tensor("two", {}, {2})).ints("sizes", {1, 2}).ints("few", {1, 1});
    model.constant(int_tensor("first", {}, {0})).constant(int_tensor("last", {}, {-1}));
    return model.node("SplitToSequence", operands, {"s"}, attributes);
  };
  const auto member = [](Model model, const char* position) {
    return values_of(model.node("SequenceAt", {"s", position}, {"y"}).output("y"));
  };
  EXPECT_THAT(member(split({"x"}, {}), "last"), ElementsAre(5, 6));
  EXPECT_THAT(member(split({"x"}, {{"axis", 1}}), "last"), ElementsAre(2, 4, 6));
  EXPECT_THAT(member(split({"x", "two"}, {}), "first"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(member(split({"x", "two"}, {}), "last"), ElementsAre(5, 6));
  EXPECT_THAT(member(split({"x", "sizes"}, {}), "last"), ElementsAre(3, 4, 5, 6));
  // Members without the dimension make it anew.
  Model stacked = split({"x"}, {{"keepdims", 0}});
  stacked.node("ConcatFromSequence", {"s"}, {"y"}, {{"axis", 1}, {"new_axis", 1}});
  EXPECT_THAT(values_of(stacked.output("y")), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(refusal(split({"x", "few"}, {}).output("s")), HasSubstr("add up to the dimension"));
}

TEST(Sequences, HaveAtMost4095Parts) {
  const auto pairs_of = [](int64_t size) {
    Model model(13);
    model.input("unused", {1}).floats("x", {size}, std::vector<float>(static_cast<size_t>(size)));
    model.constant(int_tensor("two", {}, {2})).node("SplitToSequence", {"x", "two"}, {"s"});
    model.node("SequenceLength", {"s"}, {"n"}).node("Cast", {"n"}, {"y"}, {{"to", 1}});
    return model.output("y");
  };
  EXPECT_THAT(values_of(pairs_of(8189)), ElementsAre(4095));
  EXPECT_THAT(refusal(pairs_of(8191)), HasSubstr("more than 4095 tensors"));
}

TEST(Sequences, AreNoOperandsOfOtherNodesAndNoOutputs) {
  EXPECT_THAT(refusal(model().node("Relu", {"s"}, {"y"}).output("y")),
              HasSubstr("its input 's' is a sequence"));
  EXPECT_THAT(refusal(model().output("s")), HasSubstr("it is a sequence"));
  EXPECT_THAT(refusal(model().node("SequenceAt", {"a", "at0"}, {"y"}).output("y")),
              HasSubstr("input 0 is not a sequence"));
  EXPECT_THAT(refusal(model().node("SequenceConstruct", {"s", "s"}, {"t"}).output("t")),
              HasSubstr("a sequence of sequences"));
}

TEST(Sequences, WithoutAKnownLengthAreRefusedByName) {
  Model unknown(13);
  unknown.input("x", {4}).input("sizes", {2}, TensorProto::INT64);
  unknown.constant(int_tensor("first", {}, {0}));
  unknown.node("SplitToSequence", {"x", "sizes"}, {"s"}).node("SequenceAt", {"s", "first"}, {"y"});
  EXPECT_THAT(refusal(unknown.output("y")), HasSubstr("SplitToSequence"));
}

}  // namespace
}  // namespace millrace::compiler::test
