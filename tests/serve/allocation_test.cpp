// Every allocation of a request may fail: the request is answered once all the same.
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/service.h"
#include "tests/support/counting_new.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

class ServeAllocations : public ::testing::Test {
 protected:
  ServeAllocations() {
    EXPECT_TRUE(write_tiny_model(directory_.file("tiny.rai")).ok());
    options_.units = 1;
    options_.models = {directory_.file("tiny.rai")};
    EXPECT_TRUE(models_.start().ok());
    std::string data = "0";
    for (int i = 1; i < 48; ++i) data += ",1";
    body_ = R"({"id":"an id that is longer than a short string","inputs":[{"name":"data",)"
            R"("shape":[1,3,4,4],"datatype":"FP32","data":[)" +
            data + "]}]}";
  }
  ~ServeAllocations() override { models_.close(); }

  serve::HttpRequest request() const {
    serve::HttpRequest request;
    request.method = "POST";
    request.target = "/v2/models/tiny/infer";
    request.arrival = std::chrono::steady_clock::now();
    EXPECT_TRUE(serve::MemoryBlock::allocate(body_.size(), 0, request.body));
    std::memcpy(request.body.data(), body_.data(), body_.size());
    return request;
  }

  const TemporaryDirectory directory_;
  serve::Options options_;
  Device device_ = Device::open("null").value();
  serve::Metrics metrics_;
  serve::ModelRepository models_{options_, device_, metrics_};
  serve::Workers workers_{1};
  const std::atomic<uint32_t> connections_ = 0;
  serve::Service service_{models_, metrics_, workers_, options_, connections_};
  std::string body_;
};

TEST_F(ServeAllocations, EachMayFail) {
  bool happened = true;
  size_t failures = 0;
  for (size_t count = 0; happened; ++count) {
    std::promise<unsigned> status;
    serve::HttpRequest asked = request();
    serve::Respond respond = [&status](serve::HttpResponse response) {
      status.set_value(response.status);  // throws if there was an answer
    };
    std::shared_ptr<serve::Work> work;
    {
      const FailingAllocation failing(count);
      work = service_.handle(std::move(asked), std::move(respond));
      happened = failing.happened();
    }
    const unsigned answer = status.get_future().get();
    EXPECT_EQ(answer, happened && answer != 200 ? 503U : 200U) << "allocation " << count;
    failures += answer == 503 ? 1 : 0;
    ASSERT_LT(count, 10'000U);
  }
  EXPECT_GT(failures, 20U);
}

}  // namespace
}  // namespace millrace::test
