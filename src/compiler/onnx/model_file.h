// From the bytes of a model file to its protobuf message.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace::compiler {

// kCorruptData says what the content seems to be where it is no ONNX model; kUnsupported above
// 2 GiB, the limit of the protobuf encoding.
Status parse_model(std::string_view content, ::onnx::ModelProto* model);

// The same for a file, whose size it returns. Its content is never in memory as a whole beside the
// message, so that large weights are there once. kNotFound, kIoError.
Result<size_t> read_model_file(const std::string& path, ::onnx::ModelProto* model);

}  // namespace millrace::compiler
