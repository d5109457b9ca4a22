// The requests of the measurement, and the answers of the servers that only echo.
#pragma once

#include <fmt/format.h>

#include <string>

#include "open_inference.pb.h"

namespace millrace::bench {

// One picture for models/glyphs.
inline std::string picture() {
  return std::string(32 * 32 * sizeof(float), '\0');
}

// Raw in both directions.
inline std::string http_request() {
  const std::string head =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"image","datatype":"FP32",)"
      R"("shape":[1,1,32,32],"parameters":{"binary_data_size":4096}}]})";
  return fmt::format(
      "POST /v2/models/glyphs/infer HTTP/1.1\r\nHost: localhost\r\n"
      "Inference-Header-Content-Length: {}\r\nContent-Length: {}\r\n\r\n{}{}",
      head.size(), head.size() + picture().size(), head, picture());
}

inline std::string grpc_request() {
  inference::ModelInferRequest request;
  request.set_model_name("glyphs");
  auto& input = *request.add_inputs();
  input.set_name("image");
  input.set_datatype("FP32");
  for (const int64_t size : {1, 1, 32, 32}) input.add_shape(size);
  request.add_raw_input_contents(picture());
  return request.SerializeAsString();
}

// As large as the answers of the model: 40 scores behind their description.
inline std::string answer_bytes() {
  return std::string(320, ' ');
}

}  // namespace millrace::bench
