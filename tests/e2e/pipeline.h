// Everything between an ONNX file and results: compile, archive, decode, load, asynchronous run.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "runtime/session.h"

namespace millrace::test {

// Compiles the file and returns the bytes of the archive.
Result<std::vector<std::byte>> compile_to_archive(const std::string& onnx_path,
                                                  const compiler::CompileOptions& options);

// A session on the device of that name for an archive in memory.
Result<std::unique_ptr<runtime::Session>> open_session(std::vector<std::byte> archive,
                                                       const std::string& device_name);

// Tensor bytes: [frame][tensor], in one view.
using FrameBytes = std::vector<std::vector<std::vector<std::byte>>>;

// Runs the frames as one asynchronous job and returns the outputs in `view`.
Result<FrameBytes> run_async(runtime::Session& session, const FrameBytes& inputs,
                             device::View view);

}  // namespace millrace::test
