// Models: loading, and what programs ask about them.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "nrt/nrt_experimental.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// The published header of a NEFF in front of some data.
Bytes some_neff() {
  Bytes bytes(2048);
  const auto put = [&](size_t at, uint64_t number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
  };
  put(0, 2);      // package version
  put(8, 1024);   // header
  put(16, 1024);  // data
  put(24, 1);     // NEFF version
  put(32, 3);
  std::memcpy(bytes.data() + 220, "resnet", 6);
  return bytes;
}

class Models : public NrtTest {
 protected:
  static nrt_model_t* untouched() { return reinterpret_cast<nrt_model_t*>(0x1234); }

  // The status of nrt_load; a failure must leave the pointer as it was.
  static NRT_STATUS load_status(const Bytes& bytes, int32_t core = 0, int32_t core_count = 1) {
    nrt_model_t* model = untouched();
    const NRT_STATUS status = nrt_load(bytes.data(), bytes.size(), core, core_count, &model);
    if (status == NRT_SUCCESS)
      nrt_unload(model);
    else
      EXPECT_EQ(model, untouched());
    return status;
  }
};

TEST_F(Models, BytesThatAreNoArchiveAreNamed) {
  const struct {
    Bytes bytes;
    NRT_STATUS status;
    const char* line;
  } kCases[] = {
      {bytes_of("nothing of the kind"), NRT_INVALID,
       "NRT_INVALID: not a Millrace archive; it begins with text, \"nothing of the kind\""},
      {bytes_of("\x89PNG\r\n\x1a\n...."), NRT_INVALID, "it seems to be a PNG picture"},
      {bytes_of("\x08\x07\x12\x07pytorch"), NRT_INVALID, "an ONNX model: compile it first"},
      {some_neff(), NRT_UNSUPPORTED_NEFF_VERSION, "NEFF version 1.3, name \"resnet\""},
  };
  for (const auto& [bytes, status, line] : kCases) {
    const LogCapture log;
    EXPECT_EQ(load_status(bytes), status) << line;
    EXPECT_EQ(log.count("nrt_load: "), 1u) << line;
    EXPECT_EQ(log.count(line), 1u) << line;
    EXPECT_EQ(log.count("(memory)"), 0u) << line;
  }
}

TEST_F(Models, DamagedArchivesAreInvalid) {
  Bytes bytes = tiny_archive();
  EXPECT_EQ(load_status(Bytes(bytes.begin(), bytes.begin() + 100)), NRT_INVALID);
  bytes[bytes.size() / 2] ^= std::byte{0xff};
  EXPECT_EQ(load_status(bytes), NRT_INVALID);
}

TEST_F(Models, ArgumentsThatMakeNoSense) {
  const Bytes bytes = tiny_archive();
  nrt_model_t* model = untouched();
  EXPECT_EQ(nrt_load(nullptr, 10, 0, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load(bytes.data(), 0, 0, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, nullptr), NRT_INVALID);
  EXPECT_EQ(model, untouched());
  EXPECT_EQ(load_status(bytes, 2), NRT_LOAD_NOT_ENOUGH_NC);  // of two cores
  EXPECT_EQ(load_status(bytes, -2), NRT_LOAD_NOT_ENOUGH_NC);
  EXPECT_EQ(load_status(bytes, 0, 2), NRT_LOAD_NOT_ENOUGH_NC) << "a model is on one core";
  EXPECT_EQ(load_status(bytes, 0, 0), NRT_INVALID);
}

TEST_F(Models, TheLibraryChoosesACore) {
  const Bytes bytes = tiny_archive();
  std::vector<uint32_t> cores;
  for (int i = 0; i < 2; ++i) {
    nrt_model_t* model = nullptr;
    ASSERT_EQ(nrt_load(bytes.data(), bytes.size(), -1, -1, &model), NRT_SUCCESS);
    nrt_model_info_t info{99};
    size_t written = 0;
    ASSERT_EQ(nrt_get_model_info(model, &info, sizeof info, &written), NRT_SUCCESS);
    EXPECT_EQ(written, sizeof info);
    cores.push_back(info.vnc);
  }
  std::ranges::sort(cores);
  EXPECT_EQ(cores, (std::vector<uint32_t>{0, 1}));
}

TEST_F(Models, ModelInfoIsCutToTheRoomThereIs) {
  nrt_model_t* const model = load(1);
  nrt_model_info_t info{99};
  size_t written = 99;
  EXPECT_EQ(nrt_get_model_info(model, &info, 0, &written), NRT_SUCCESS);
  EXPECT_EQ(written, 0u);
  EXPECT_EQ(info.vnc, 99u);
  char room[64];
  EXPECT_EQ(
      nrt_get_model_info(model, reinterpret_cast<nrt_model_info_t*>(room), sizeof room, &written),
      NRT_SUCCESS);
  EXPECT_EQ(written, sizeof info);
  EXPECT_EQ(nrt_get_model_info(model, nullptr, 4, &written), NRT_INVALID);
  EXPECT_EQ(nrt_get_model_info(nullptr, &info, 4, &written), NRT_INVALID_HANDLE);
}

TEST_F(Models, AModelIsOneCoreAndOneInstance) {
  nrt_model_t* const model = load();
  for (auto* const ask : {nrt_get_model_nc_count, nrt_get_model_vnc_count}) {
    uint32_t count = 0;
    EXPECT_EQ(ask(model, &count), NRT_SUCCESS);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(ask(model, nullptr), NRT_INVALID);
    EXPECT_EQ(ask(nullptr, &count), NRT_INVALID_HANDLE);
  }
  uint32_t instances = 0;
  EXPECT_EQ(nrt_get_model_instance_count(model, &instances), NRT_SUCCESS);
  EXPECT_EQ(instances, 1u);
}

TEST_F(Models, UnloadingEndsTheHandle) {
  nrt_model_t* const model = load();
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
  EXPECT_EQ(nrt_unload(model), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_unload(nullptr), NRT_INVALID_HANDLE);
  nrt_tensor_info_array_t* info = nullptr;
  EXPECT_EQ(nrt_get_model_tensor_info(model, &info), NRT_INVALID_HANDLE);
  EXPECT_EQ(info, nullptr);
}

TEST_F(Models, TensorInfoOutlivesTheModel) {
  nrt_model_t* const model = load();
  nrt_tensor_info_array_t* info = nullptr;
  ASSERT_EQ(nrt_get_model_tensor_info(model, &info), NRT_SUCCESS);
  ASSERT_EQ(nrt_unload(model), NRT_SUCCESS);
  ASSERT_EQ(info->tensor_count, 2u);
  const nrt_tensor_info_t &input = info->tensor_array[0], &output = info->tensor_array[1];
  EXPECT_STREQ(input.name, kTinyInput);
  EXPECT_EQ(input.usage, NRT_TENSOR_USAGE_INPUT);
  EXPECT_EQ(input.size, kTinyInputBytes);
  EXPECT_EQ(input.dtype, NRT_DTYPE_FLOAT32);
  EXPECT_EQ(std::vector(input.shape, input.shape + input.ndim),
            (std::vector<uint32_t>{1, 3, 4, 4}));
  EXPECT_STREQ(output.name, kTinyOutput);
  EXPECT_EQ(output.usage, NRT_TENSOR_USAGE_OUTPUT);
  EXPECT_EQ(output.size, kTinyOutputBytes);
  EXPECT_EQ(output.ndim, 4u);
  EXPECT_EQ(nrt_free_model_tensor_info(info), NRT_SUCCESS);
  EXPECT_EQ(nrt_free_model_tensor_info(nullptr), NRT_SUCCESS);
}

TEST_F(Models, TensorInfoTellsOfTheWholeBatch) {
  nrt_tensor_info_array_t* info = nullptr;
  ASSERT_EQ(nrt_get_model_tensor_info(load(0, {.batch_size = 3}), &info), NRT_SUCCESS);
  EXPECT_EQ(info->tensor_array[0].size, 3 * kTinyInputBytes);
  EXPECT_EQ(info->tensor_array[0].shape[0], 3u);
  nrt_free_model_tensor_info(info);
}

TEST_F(Models, TheBytesMayBeFreedAfterTheLoad) {
  Bytes bytes = tiny_archive();
  nrt_model_t* model = nullptr;
  ASSERT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, &model), NRT_SUCCESS);
  std::ranges::fill(bytes, std::byte{0xee});
  bytes = {};
  const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  EXPECT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
}

TEST_F(Models, LoadOnManyThreadsAtOnce) {
  const Bytes bytes = tiny_archive();
  std::vector<nrt_model_t*> models(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < models.size(); ++i)
    threads.emplace_back([&, i] {
      EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), static_cast<int32_t>(i % 2), 1, &models[i]),
                NRT_SUCCESS);
    });
  for (std::thread& thread : threads) thread.join();
  std::ranges::sort(models);
  EXPECT_EQ(std::ranges::adjacent_find(models), models.end());
  for (nrt_model_t* const model : models) EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
}

TEST_F(Models, CollectivesOfOneRankLoad) {
  const Bytes bytes = tiny_archive();
  nrt_model_t* model = untouched();
  EXPECT_EQ(nrt_load_collectives(bytes.data(), bytes.size(), 0, 1, 0, 2, &model), NRT_FAILURE);
  EXPECT_EQ(nrt_load_collectives(bytes.data(), bytes.size(), 0, 1, 1, 1, &model), NRT_INVALID);
  EXPECT_EQ(model, untouched());
  EXPECT_EQ(nrt_load_collectives(bytes.data(), bytes.size(), 0, 1, 0, 1, &model), NRT_SUCCESS);
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
