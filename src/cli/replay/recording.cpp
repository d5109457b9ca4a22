#include "cli/replay/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "io/file.h"
#include "queue/requests/ids.h"

namespace millrace::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kVersion = 1;
constexpr const char* kLines = "record.jsonl";
// Tensors of a job: as many as the largest model and batch can have, and fewer than a hostile
// record could name in a line.
constexpr size_t kMostTensors = size_t{1} << 20;
constexpr uint64_t kMostUnit = std::numeric_limits<uint16_t>::max();
// A sum with a time of this machine's clock must not overflow.
constexpr int64_t kMostNs = std::numeric_limits<int64_t>::max() / 2;

bool is_number(const json& value, uint64_t most) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= most;
}

// A line whose members are read one by one. After the first that is missing or wrong, error() has
// the reason, and the values are empty.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  uint64_t number(const char* name, uint64_t most) {
    const json* const value = find(name);
    if (value != nullptr && is_number(*value, most)) return value->get<uint64_t>();
    return fail<uint64_t>(fmt::format("\"{}\" is no number from 0 to {}", name, most));
  }
  std::string text(const char* name) {
    const json* const value = find(name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    return fail<std::string>(fmt::format("\"{}\" is no text", name));
  }
  std::vector<RecordedTensor> tensors(const char* name) {
    const json* const value = find(name);
    if (value == nullptr || !value->is_array() || value->size() > kMostTensors)
      return fail<std::vector<RecordedTensor>>(fmt::format("\"{}\" is no list of tensors", name));
    std::vector<RecordedTensor> tensors;
    for (const json& each : *value) tensors.push_back(tensor(each));
    return tensors;
  }
  bool has(const char* name) const { return find(name) != nullptr; }
  const std::string& error() const { return error_; }

 private:
  const json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  template <class T>
  T fail(std::string reason) {
    if (error_.empty()) error_ = std::move(reason);
    return {};
  }
  RecordedTensor tensor(const json& object) {
    Members members(object);
    RecordedTensor tensor;
    tensor.name = members.text("name");
    const std::string view = members.text("view");
    tensor.view = view == "hw" ? View::kHw : View::kCpu;
    tensor.bytes = members.number("bytes", std::numeric_limits<uint64_t>::max());
    if (members.has("shape")) tensor.shape = members.shape();
    if (members.has("file")) tensor.file = members.text("file");
    if (view != "hw" && view != "cpu") members.fail<int>("\"view\" is neither \"cpu\" nor \"hw\"");
    if (!members.error().empty()) fail<int>("a tensor: " + members.error());
    return tensor;
  }
  TensorShape shape() {
    const json& value = *find("shape");
    TensorShape shape;
    if (!value.is_array() || value.size() > TensorShape::kMaxRank)
      return fail<TensorShape>("\"shape\" is no list of dimensions");
    for (const json& dimension : value) {
      if (!is_number(dimension, kOpenDimension - 1))
        return fail<TensorShape>("\"shape\" has a wrong dimension");
      shape.dims[shape.rank++] = dimension.get<uint32_t>();
    }
    return shape;
  }

  const json& object_;
  std::string error_;
};

class Reader {
 public:
  explicit Reader(std::string folder) { recording_.folder = std::move(folder); }

  // Reads a line; returns what is wrong with it, or nothing.
  std::string read(const std::string& line) {
    const json parsed = json::parse(line, nullptr, false);
    Members members(parsed);
    if (parsed.is_discarded() || !parsed.is_object()) return "it is no object of JSON";
    if (!begun_) return read_head(members);
    if (members.has("submitted")) return read_submit(members);
    if (members.has("started")) return read_start(members);
    if (members.has("completed")) return read_completion(members);
    if (members.has("model")) return read_model(members);
    if (members.has("ended")) recording_.ended = members.text("ended");
    return members.error();  // other lines are those of later versions
  }
  bool begun() const { return begun_; }
  Recording take() {
    recording_.not_started =
        std::erase_if(recording_.jobs, [](const RecordedJob& job) { return !job.started; });
    return std::move(recording_);
  }

 private:
  std::string read_head(Members& members) {
    if (members.text("format") != "millrace-record") return "this is not a record of Millrace";
    const uint64_t version = members.number("version", std::numeric_limits<uint64_t>::max());
    if (members.error().empty() && version != kVersion)
      return fmt::format("the record has version {}, and this program reads version {}", version,
                         kVersion);
    begun_ = members.error().empty();
    return members.error();
  }
  std::string read_model(Members& members) {
    const uint64_t number = members.number("model", std::numeric_limits<uint32_t>::max());
    RecordedModel model{members.text("name"), members.text("archive"), members.text("profile")};
    if (members.error().empty() &&
        !model_by_number_.emplace(number, recording_.models.size()).second)
      return fmt::format("model {} is there twice", number);
    recording_.models.push_back(std::move(model));
    return members.error();
  }
  std::string read_submit(Members& members) {
    RecordedJob job;
    job.number = members.number("submitted", std::numeric_limits<uint64_t>::max());
    const uint64_t model = members.number("model", std::numeric_limits<uint32_t>::max());
    job.submitted_ns = static_cast<int64_t>(members.number("ns", kMostNs));
    if (members.has("unit")) job.unit = static_cast<uint16_t>(members.number("unit", kMostUnit));
    if (members.has("id")) job.number_in_unit = members.number("id", queue::kCounterMask);
    job.frames =
        static_cast<uint32_t>(members.number("frames", std::numeric_limits<uint32_t>::max()));
    job.inputs = members.tensors("inputs");
    job.outputs = members.tensors("outputs");
    if (!members.error().empty()) return members.error();
    const auto found = model_by_number_.find(model);
    if (found == model_by_number_.end())
      return fmt::format("there is no model {} before it", model);
    job.model = found->second;
    if (job.number <= last_job_) return fmt::format("job {} is out of order", job.number);
    last_job_ = job.number;
    in_flight_.emplace(job.number, recording_.jobs.size());
    recording_.most_in_flight = std::max(recording_.most_in_flight, in_flight_.size());
    recording_.jobs.push_back(std::move(job));
    return {};
  }
  std::string read_start(Members& members) {
    const uint64_t number = members.number("started", std::numeric_limits<uint64_t>::max());
    std::vector<RecordedTensor> inputs;
    if (members.has("inputs")) inputs = members.tensors("inputs");
    if (!members.error().empty()) return members.error();
    const auto found = in_flight_.find(number);
    if (found == in_flight_.end()) return {};  // another thread had given it up
    RecordedJob& job = recording_.jobs[found->second];
    if (!inputs.empty() && inputs.size() != job.inputs.size())
      return fmt::format("job {} has {} inputs, not {}", number, job.inputs.size(), inputs.size());
    if (!inputs.empty()) job.inputs = std::move(inputs);
    job.started = true;
    return {};
  }
  std::string read_completion(Members& members) {
    const uint64_t number = members.number("completed", std::numeric_limits<uint64_t>::max());
    std::string status = members.text("status");
    std::vector<RecordedTensor> results;
    if (members.has("outputs")) results = members.tensors("outputs");
    if (!members.error().empty()) return members.error();
    const auto found = in_flight_.find(number);
    if (found == in_flight_.end()) return fmt::format("job {} is not in flight", number);
    RecordedJob& job = recording_.jobs[found->second];
    if (!results.empty() && results.size() != job.outputs.size())
      return fmt::format("job {} has {} outputs, not {}", number, job.outputs.size(),
                         results.size());
    job.status = std::move(status);
    job.results = std::move(results);
    in_flight_.erase(found);
    return {};
  }

  Recording recording_;
  bool begun_ = false;
  uint64_t last_job_ = 0;
  std::unordered_map<uint64_t, size_t> model_by_number_, in_flight_;
};

// Names are those that the recorder gives: a checksum within one of the two folders.
bool is_name(const std::string& name) {
  for (const std::string_view group : {"models/", "tensors/"}) {
    if (!name.starts_with(group)) continue;
    const std::string_view sum = std::string_view(name).substr(group.size());
    return sum.size() == 32 && sum.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  }
  return false;
}

bool is_itself(const fs::path& path, fs::file_type type) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == type;
}

}  // namespace

std::string RecordedJob::name() const {
  return unit == 0 ? std::to_string(number) : fmt::format("{}:{}", unit, number_in_unit);
}

Result<Recording> read_recording(const std::string& folder) {
  const std::string path = folder + "/" + kLines;
  std::error_code error;
  if (!fs::exists(path, error))
    return Status(StatusCode::kNotFound,
                  fmt::format("{} has no {}: a program writes one with MILLRACE_RECORD={}", folder,
                              kLines, folder));
  if (!is_itself(path, fs::file_type::regular)) return corrupt_data(path + " is no regular file");
  std::ifstream file(path);
  if (!file) return Status(StatusCode::kIoError, "cannot read " + path);
  Reader reader(folder);
  uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const bool whole = !file.eof();  // a process that was killed may leave a part of a line
    if (const std::string wrong = reader.read(line); !wrong.empty() && whole)
      return corrupt_data(fmt::format("{}, line {}: {}", path, number, wrong));
  }
  if (!reader.begun()) return corrupt_data(path + " is empty");
  return reader.take();
}

Result<std::string> path_within(const std::string& folder, const std::string& name) {
  if (!is_name(name))
    return corrupt_data(fmt::format("\"{}\" is no name of a file of a record", name));
  const fs::path path = fs::path(folder) / name;
  if (!is_itself(path.parent_path(), fs::file_type::directory) ||
      !is_itself(path, fs::file_type::regular))
    return corrupt_data(fmt::format("{} is missing, or no regular file", path.string()));
  return path.string();
}

Result<std::vector<std::byte>> bytes_of(const std::string& folder, const RecordedTensor& tensor) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string path, path_within(folder, tensor.file));
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || size != tensor.bytes)
    return corrupt_data(fmt::format("{} has {} bytes, and tensor \"{}\" {}", path, size,
                                    tensor.name, tensor.bytes));
  if (size > kMostTensorBytes)
    return corrupt_data(fmt::format("{} has more bytes than this command reads", path));
  MILLRACE_ASSIGN_OR_RETURN(auto bytes, io::read_file(path));
  if (bytes.size() != tensor.bytes) return corrupt_data(path + " changes while it is read");
  return bytes;
}

}  // namespace millrace::cli
