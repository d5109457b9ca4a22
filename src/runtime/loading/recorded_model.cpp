#include "runtime/loading/recorded_model.h"

#include <exception>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/log.h"
#include "graph/archive/codec.h"
#include "model/files/mapped_file.h"
#include "record/record.h"
#include "runtime/loading/static_model.h"

namespace millrace::runtime {
namespace {

void note(const device::Program& program, const RecordedArchive& archive,
          std::span<const std::byte> bytes, std::string_view profile) {
  record::note_model(&program.model(), {archive.content.name, bytes, profile});
}

Status read_and_note(const device::Program& program, const RecordedArchive& archive,
                     std::string_view profile) {
  std::error_code ignored;  // then opening the file fails, too
  if (!archive.bytes.empty()) {
    note(program, archive, archive.bytes, profile);
  } else if (std::filesystem::is_directory(archive.path, ignored)) {
    note(program, archive, model::archive_bytes(graph::encode(archive.content)), profile);
  } else {
    MILLRACE_ASSIGN_OR_RETURN(const model::MappedFile file, model::MappedFile::open(archive.path));
    note(program, archive, file.bytes(), profile);
  }
  return {};
}

}  // namespace

void record_model(const device::Program& program, const RecordedArchive& archive,
                  std::string_view profile) noexcept {
  record::forget_model(&program.model());
  try {
    if (const Status noted = read_and_note(program, archive, profile); !noted.ok())
      log_format(LogLevel::kError, "record", "jobs of model \"{}\" are not recorded: {}",
                 archive.content.name, noted.message());
  } catch (const std::exception&) {
    // Memory is exhausted: jobs of the model are not recorded.
  }
}

void record_static_model(const device::Program& program, const RecordedArchive& archive,
                         std::string_view profile) noexcept {
  const graph::CompiledModel& content = archive.content;
  if (profile.empty() && content.network) profile = profile_of_environment();
  const bool takes_first = profile.empty() && content.network && !content.profiles.empty();
  record_model(program, archive, takes_first ? content.profiles.front().name : profile);
}

}  // namespace millrace::runtime
