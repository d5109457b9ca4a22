#include "compiler/onnx/tensor_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/compiler/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace millrace::compiler::test {
namespace {

using tensor::DataType;
namespace fs = std::filesystem;

// A tensor of two elements whose raw bytes are `elements`.
template <class T>
TensorProto raw(TensorProto::DataType type, const std::vector<T>& elements) {
  TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(type);
  proto.add_dims(static_cast<int64_t>(elements.size()));
  proto.set_raw_data(elements.data(), elements.size() * sizeof(T));
  return proto;
}

graph::Value read(TensorProto proto, const fs::path& directory = {}) {
  const Result<graph::Value> value = read_tensor(std::move(proto), directory);
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return value.ok() ? *value : graph::Value{};
}

Status failure(TensorProto proto, const fs::path& directory = {}) {
  const Result<graph::Value> value = read_tensor(std::move(proto), directory);
  EXPECT_FALSE(value.ok());
  EXPECT_NE(value.status().message().find("tensor 't'"), std::string::npos)
      << value.status().message();
  return value.status();
}

template <class T>
void expect_elements(const graph::Value& value, DataType type, const std::vector<T>& elements) {
  EXPECT_EQ(value.type, type);
  EXPECT_EQ(content<T>(value), content<T>({static_cast<int64_t>(elements.size())}, elements));
}

// A type that the ONNX library does not know yet, such as INT4 (22) or UINT4 (21).
TensorProto narrow(int type, int64_t elements, const std::string& packed) {
  TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(type);
  proto.add_dims(elements);
  proto.set_raw_data(packed);
  return proto;
}

TEST(TensorReader, FourBitsAreHeldInBytes) {
  expect_elements<int8_t>(read(narrow(22, 3, "\x87\x0f")), DataType::kInt8, {7, -8, -1});
  expect_elements<uint8_t>(read(narrow(21, 4, "\x87\x0f")), DataType::kUint8, {7, 8, 15, 0});
  TensorProto typed = narrow(22, 3, "");
  typed.clear_raw_data();
  for (const int packed : {0x87, 0x0f}) typed.add_int32_data(packed);
  expect_elements<int8_t>(read(typed), DataType::kInt8, {7, -8, -1});
}

TEST(TensorReader, TwoBitsAreHeldInBytes) {
  expect_elements<int8_t>(read(narrow(26, 5, "\xe4\x02")), DataType::kInt8, {0, 1, -2, -1, -2});
  expect_elements<uint8_t>(read(narrow(25, 4, "\xe4")), DataType::kUint8, {0, 1, 2, 3});
}

TEST(TensorReader, NarrowFloatingPointTypesAreWidened) {
  expect_elements<float>(read(narrow(17, 3, "\x38\x7e\xb8")), DataType::kFloat32, {1, 448, -1});
  expect_elements<float>(read(narrow(19, 2, "\x3c\x7b")), DataType::kFloat32, {1, 57344});
  expect_elements<float>(read(narrow(23, 3, "\xf2\x01")), DataType::kFloat32, {1, -6, 0.5f});
  expect_elements<float>(read(narrow(24, 2, "\x7f\x82")), DataType::kFloat32, {1, 8});
}

TEST(TensorReader, RefusesFourBitsThatAreTooFewOrTooMany) {
  EXPECT_EQ(failure(narrow(22, 5, "\x87\x0f")).code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure(narrow(22, 2, "\x87\x0f")).code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure(narrow(21, -1, "\x87")).code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure(narrow(21, int64_t{1} << 62, "\x87")).code(), StatusCode::kCorruptData);
}

TEST(TensorReader, RawDataOfAllTypes) {
  expect_elements<float>(read(raw<float>(TensorProto::FLOAT, {1.5f, -2})), DataType::kFloat32,
                         {1.5f, -2});
  expect_elements<int8_t>(read(raw<int8_t>(TensorProto::INT8, {1, -2})), DataType::kInt8, {1, -2});
  expect_elements<uint8_t>(read(raw<uint8_t>(TensorProto::UINT8, {1, 254})), DataType::kUint8,
                           {1, 254});
  expect_elements<int16_t>(read(raw<int16_t>(TensorProto::INT16, {1, -2})), DataType::kInt16,
                           {1, -2});
  expect_elements<uint16_t>(read(raw<uint16_t>(TensorProto::UINT16, {1, 65534})), DataType::kUint16,
                            {1, 65534});
  expect_elements<int32_t>(read(raw<int32_t>(TensorProto::INT32, {1, -2})), DataType::kInt32,
                           {1, -2});
  expect_elements<uint32_t>(read(raw<uint32_t>(TensorProto::UINT32, {1, 4000000000u})),
                            DataType::kUint32, {1, 4000000000u});
  expect_elements<int64_t>(read(raw<int64_t>(TensorProto::INT64, {1, -2})), DataType::kInt64,
                           {1, -2});
  expect_elements<uint64_t>(read(raw<uint64_t>(TensorProto::UINT64, {1, 2})), DataType::kUint64,
                            {1, 2});
  // Any byte but 0 is true.
  expect_elements<uint8_t>(read(raw<uint8_t>(TensorProto::BOOL, {0, 7})), DataType::kBoolean,
                           {0, 1});
}

TEST(TensorReader, OtherFloatsBecomeFloat32) {
  expect_elements<float>(read(raw<uint16_t>(TensorProto::FLOAT16, {0x3c00, 0xc000})),
                         DataType::kFloat32, {1, -2});
  expect_elements<float>(read(raw<uint16_t>(TensorProto::BFLOAT16, {0x3f80, 0xc000})),
                         DataType::kFloat32, {1, -2});
  expect_elements<double>(read(raw<double>(TensorProto::DOUBLE, {1.5, -2})), DataType::kFloat64,
                          {1.5f, -2});
}

TEST(TensorReader, TypedFields) {
  expect_elements<int8_t>(read(int_tensor("t", {2}, {1, -2}, TensorProto::INT8)), DataType::kInt8,
                          {1, -2});
  expect_elements<int16_t>(read(int_tensor("t", {2}, {1, -2}, TensorProto::INT16)),
                           DataType::kInt16, {1, -2});
  expect_elements<int32_t>(read(int_tensor("t", {2}, {1, -2}, TensorProto::INT32)),
                           DataType::kInt32, {1, -2});
  expect_elements<uint8_t>(read(int_tensor("t", {2}, {0, 1}, TensorProto::BOOL)),
                           DataType::kBoolean, {0, 1});
  expect_elements<float>(read(int_tensor("t", {2}, {0x3c00, 0xc000}, TensorProto::FLOAT16)),
                         DataType::kFloat32, {1, -2});
  TensorProto doubles;
  doubles.set_data_type(TensorProto::DOUBLE);
  doubles.add_dims(1);
  doubles.add_double_data(0.5);
  expect_elements<double>(read(doubles), DataType::kFloat64, {0.5});
  TensorProto unsigned_long;
  unsigned_long.set_data_type(TensorProto::UINT64);
  unsigned_long.add_dims(1);
  unsigned_long.add_uint64_data(9);
  expect_elements<uint64_t>(read(unsigned_long), DataType::kUint64, {9});
}

TEST(TensorReader, ContradictionsAreCorruptData) {
  TensorProto short_raw = raw<float>(TensorProto::FLOAT, {1, 2});
  short_raw.set_dims(0, 3);
  EXPECT_EQ(failure(short_raw).code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure(tensor("t", {3}, {1, 2})).code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure(tensor("t", {-1}, {})).code(), StatusCode::kCorruptData);
  EXPECT_EQ(failure(tensor("t", {int64_t{1} << 62, 1 << 10}, {})).code(), StatusCode::kCorruptData);
}

TEST(TensorReader, TypesWithoutAPlaceAreUnsupported) {
  for (const auto type : {TensorProto::STRING, TensorProto::COMPLEX64, TensorProto::UNDEFINED}) {
    EXPECT_EQ(failure(raw<uint8_t>(type, {1})).code(), StatusCode::kUnsupported);
  }
  TensorProto unknown = raw<uint8_t>(TensorProto::UINT8, {1});
  unknown.set_data_type(99);
  EXPECT_NE(failure(unknown).message().find("#99"), std::string::npos);
}

class ExternalTensors : public testing::Test {
 protected:
  // A tensor of two floats in `location`.
  static TensorProto external(const std::string& location,
                              const std::vector<std::pair<std::string, std::string>>& more = {}) {
    TensorProto proto;
    proto.set_name("t");
    proto.set_data_type(TensorProto::FLOAT);
    proto.add_dims(2);
    proto.set_data_location(TensorProto::EXTERNAL);
    set(&proto, "location", location);
    for (const auto& [key, value] : more) set(&proto, key, value);
    return proto;
  }

  fs::path write(const fs::path& name, const Floats& elements) const {
    const fs::path path = model_directory() / name;
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(elements.data()),
               static_cast<std::streamsize>(elements.size() * sizeof(float)));
    return path;
  }

  fs::path model_directory() const { return fs::path(directory_.path()) / "model"; }

 private:
  static void set(TensorProto* proto, const std::string& key, const std::string& value) {
    auto* entry = proto->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }

  millrace::test::TemporaryDirectory directory_;
};

TEST_F(ExternalTensors, BesideTheModelAndBelow) {
  write("weights.bin", {9, 1, 2});
  write("deep/weights.bin", {3, 4});
  expect_elements<float>(
      read(external("weights.bin", {{"offset", "4"}, {"length", "8"}}), model_directory()),
      DataType::kFloat32, {1, 2});
  expect_elements<float>(read(external("deep/weights.bin"), model_directory()), DataType::kFloat32,
                         {3, 4});
}

TEST_F(ExternalTensors, MissingOrShortFiles) {
  write("weights.bin", {1, 2});
  EXPECT_EQ(failure(external("other.bin"), model_directory()).code(), StatusCode::kNotFound);
  EXPECT_EQ(failure(external("weights.bin", {{"offset", "4"}}), model_directory()).code(),
            StatusCode::kCorruptData);
  EXPECT_EQ(failure(external("weights.bin", {{"length", "4"}}), model_directory()).code(),
            StatusCode::kCorruptData);
  EXPECT_EQ(failure(external("weights.bin", {{"offset", "-4"}}), model_directory()).code(),
            StatusCode::kCorruptData);
  EXPECT_EQ(
      failure(external("weights.bin", {{"offset", "99999999999999999999"}}), model_directory())
          .code(),
      StatusCode::kCorruptData);
  EXPECT_EQ(failure(external(""), model_directory()).code(), StatusCode::kCorruptData);
}

TEST_F(ExternalTensors, MayNotLeaveTheFolder) {
  const fs::path outside = write("../secret.bin", {1, 2});
  fs::create_directories(model_directory());
  fs::create_symlink(outside, model_directory() / "link.bin");
  for (const std::string& location : {std::string("../secret.bin"), fs::canonical(outside).string(),
                                      std::string("link.bin"), std::string("a/../../secret.bin")}) {
    EXPECT_EQ(failure(external(location), model_directory()).code(), StatusCode::kInvalidArgument)
        << location;
  }
}

}  // namespace
}  // namespace millrace::compiler::test
