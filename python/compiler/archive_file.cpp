#include "archive_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

#include "graph/archive/codec.h"
#include "model/archive_writer.h"

namespace millrace::python {
namespace {

Status write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write the archive to memory", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

Status write_archive_to(int descriptor, const graph::CompiledModel& model, uint32_t columns) {
  const std::vector<std::byte> bytes = model::archive_bytes(graph::encode(model, columns));
  if (bytes.empty()) return unsupported("the structure of the archive is too large");
  return write_all(descriptor, bytes);
}

}  // namespace millrace::python
