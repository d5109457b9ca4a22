#include "cli/data/labels.h"

#include <gmock/gmock.h>

#include "tests/cli/data/files.h"

namespace millrace::test {
namespace {

using cli::ClassNames;
using cli::DataSet;
using cli::Labels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSynsets =
    "n01440764 tench, Tinca tinca\n"
    "n01443537 goldfish, Carassius auratus\n"
    "n02012849 crane\n"
    "n03126707 crane\r\n"
    "n02119789 kit fox, Vulpes macrotis\n\n";

class LabelsOfDataTest : public testing::Test {
 protected:
  // Labels of pictures in these places of the folder "data", by a file of labels and one of
  // classes.
  Result<Labels> labels(const std::vector<std::string>& pictures, const std::string& text,
                        const std::string& classes = "") {
    for (const std::string& picture : pictures) write_grey(directory_, "data/" + picture, 1);
    const auto data =
        DataSet::open({float_input("image", {1, 1, 2, 2})}, {directory_.file("data")}, {});
    EXPECT_TRUE(data.ok()) << data.status().to_string();
    if (!classes.empty()) write_text(directory_, "classes.txt", classes);
    return cli::read_labels(*data, write_text(directory_, "labels.csv", text),
                            classes.empty() ? "" : directory_.file("classes.txt"));
  }

  std::string failure(const std::vector<std::string>& pictures, const std::string& text,
                      const std::string& classes = "") {
    const Result<Labels> read = labels(pictures, text, classes);
    return read.ok() ? "no failure" : read.status().message();
  }

  Result<ClassNames> names(const std::string& text) {
    return ClassNames::read(write_text(directory_, "names.txt", text));
  }

  TemporaryDirectory directory_;
};

TEST_F(LabelsOfDataTest, ClassesAreFoundAsPeopleWriteThem) {
  const auto classes = names(kSynsets);
  ASSERT_TRUE(classes.ok()) << classes.status().to_string();
  EXPECT_EQ(classes->size(), 5u);
  EXPECT_EQ(*classes->find("n01443537 goldfish, Carassius auratus"), 1u);
  EXPECT_EQ(*classes->find("n01443537"), 1u);
  EXPECT_EQ(*classes->find("Goldfish"), 1u);
  EXPECT_EQ(*classes->find("Tinca tinca"), 0u);
  EXPECT_EQ(*classes->find("kit_fox"), 4u);
  EXPECT_EQ(*classes->find(" 4 "), 4u);
  EXPECT_EQ(classes->find("5").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(classes->find("fox").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(classes->find("").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(classes->find("crane").status().message(), HasSubstr("class 2 or class 3"));
  EXPECT_EQ(classes->name(2), "n02012849 crane");
}

TEST_F(LabelsOfDataTest, ALineThatIsANumberIsAName) {
  const auto digits = names("9\n8\n7\n");
  ASSERT_TRUE(digits.ok());
  EXPECT_EQ(*digits->find("8"), 1u);
  EXPECT_EQ(*digits->find("2"), 2u) << "no name, so a number";
}

TEST_F(LabelsOfDataTest, WithoutNamesClassesAreNumbers) {
  EXPECT_EQ(*ClassNames().find("1000"), 1000u);
  EXPECT_FALSE(ClassNames().find("-1").ok());
  EXPECT_FALSE(ClassNames().find("99999999999999999999").ok());
}

TEST_F(LabelsOfDataTest, RowsNameFilesInAnyForm) {
  const auto read = labels({"a.ppm", "b c.ppm", "x/d.ppm", "x/e,f.ppm", "y/d.ppm"},
                           "file,label\n"
                           "./a.ppm 4\n"
                           "\"b c.ppm\", \"3\"\n"
                           "x/d.ppm\t2\n"
                           "e,f.ppm;1\n"
                           "other.ppm,7\n" +
                               directory_.file("data/y/d.ppm") + ",0\n");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_THAT(read->classes, ElementsAre(4, 3, 2, 1, 0));
}

TEST_F(LabelsOfDataTest, RowsNameClassesOfAList) {
  const auto read =
      labels({"a.ppm", "b.ppm"}, "a.ppm,tench, Tinca tinca\nb.ppm kit fox\n", kSynsets);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_THAT(read->classes, ElementsAre(0, 4));
  EXPECT_THAT(failure({}, "a.ppm,tench\n"), HasSubstr("line 1, without --classes"));
  EXPECT_THAT(failure({}, "a.ppm,1\nb.ppm,wolf\n", kSynsets), HasSubstr("line 2"));
}

TEST_F(LabelsOfDataTest, FoldersNameClassesOfAList) {
  const auto read =
      labels({"val/Goldfish/old/1.ppm", "val/goldfish/2.ppm", "n02119789/goldfish.ppm"}, kSynsets);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_THAT(read->classes, ElementsAre(4, 1, 1));
  EXPECT_EQ(read->names.size(), 5u);
  EXPECT_THAT(failure({"val/wolf/3.ppm"}, kSynsets), HasSubstr("val/wolf/3.ppm"));
}

TEST_F(LabelsOfDataTest, MissingAndContradictingRowsAreNamed) {
  EXPECT_THAT(failure({"a.ppm", "b.ppm"}, "a.ppm,1\n"), HasSubstr("no row for"));
  EXPECT_THAT(failure({}, "a.ppm,1\nb.ppm,2\na.ppm,3\n"), HasSubstr("line 3"));
  EXPECT_THAT(failure({"x/a.ppm"}, "a.ppm,1\nb.ppm,2\n"), HasSubstr("no row for"))
      << "which a.ppm?";
}

TEST_F(LabelsOfDataTest, AnArrayHasThemInOrder) {
  const std::string pixels(8, 'a');
  const auto data =
      DataSet::open({float_input("image", {1, 1, 2, 2})},
                    {write_npy(directory_, "images.npy", "|u1", "2, 2, 2", pixels)}, {});
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  const auto read = [&](const std::string& type, const std::string& shape,
                        const std::string& bytes) {
    return cli::read_labels(*data, write_npy(directory_, "labels.npy", type, shape, bytes), "");
  };
  const auto two = read("<i2", "2", {5, 1, 7, 0});
  ASSERT_TRUE(two.ok()) << two.status().to_string();
  EXPECT_THAT(two->classes, ElementsAre(261, 7));
  EXPECT_THAT(read("|u1", "3", {1, 2, 3}).status().message(), HasSubstr("3 labels for 2 samples"));
  EXPECT_THAT(read("|i1", "2", {1, -2}).status().message(), HasSubstr("label -2 of sample 1"));
  EXPECT_THAT(read("<f4", "2", std::string(8, 'a')).status().message(), HasSubstr("integers"));
}

}  // namespace
}  // namespace millrace::test
