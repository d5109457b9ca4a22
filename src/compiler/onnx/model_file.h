// Parses an ONNX file into its protobuf message. Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace::compiler {

// Parses the content of a file. kCorruptData: it is not an ONNX model; the message says what it
// seems to be. kUnsupported: more than 2 GiB, the limit of the protobuf encoding.
Status parse_model(std::string_view content, ::onnx::ModelProto* model);

// Parses a file and returns its size in bytes. The content is streamed, so that large weights are
// in memory once, in the message. Errors as for parse_model(), and kNotFound, kIoError.
Result<size_t> read_model_file(const std::string& path, ::onnx::ModelProto* model);

}  // namespace millrace::compiler
