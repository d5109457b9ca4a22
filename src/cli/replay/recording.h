// Recording: what the lines of a record say (docs/record.md). A record may come from a stranger:
// everything in it is checked, and no path leads out of its folder. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::cli {

// The most bytes of one tensor that are allocated or read because a record says so.
inline constexpr uint64_t kMostTensorBytes = uint64_t{4} << 30;

struct RecordedTensor {
  std::string name;
  View view = View::kCpu;
  uint64_t bytes = 0;
  std::optional<TensorShape> shape;  // of a tensor with open dimensions
  std::string file;                  // within the folder; empty if the bytes are not kept
};

struct RecordedJob {
  uint64_t number = 0;
  uint16_t unit = 0;  // 0 if the record does not say it
  uint64_t number_in_unit = 0;
  size_t model = 0;  // index of the model
  int64_t submitted_ns = 0;
  uint32_t frames = 1;
  std::vector<RecordedTensor> inputs, outputs;
  bool started = false;
  std::string status;                   // "OK"; empty if the job had not completed
  std::vector<RecordedTensor> results;  // outputs with their bytes; none if they are not kept

  bool succeeded() const { return status == "OK"; }
  // Returns the name that logs and timelines have, such as "3:17"; its number in a record without
  // units.
  std::string name() const;
};

struct RecordedModel {
  std::string name, archive, profile;
};

struct Recording {
  std::string folder;
  std::vector<RecordedModel> models;
  // Jobs that had not started are left out, since nobody knows which inputs they would have read.
  // The others are in the order in which they were submitted.
  std::vector<RecordedJob> jobs;
  size_t not_started = 0;
  size_t most_in_flight = 1;
  std::string ended;  // why the recording ended before the program; empty if it did not
};

// Reads the lines of the record in the folder. kNotFound, kIoError; kCorruptData, with the line and
// what is wrong with it; kUnsupported for another version.
Result<Recording> read_recording(const std::string& folder);

// Returns the path of a file of the record, which is a regular file and not reached through a
// symbolic link. kCorruptData otherwise.
Result<std::string> path_within(const std::string& folder, const std::string& name);
// Returns the bytes of a tensor. kCorruptData if its file has another size.
Result<std::vector<std::byte>> bytes_of(const std::string& folder, const RecordedTensor& tensor);

}  // namespace millrace::cli
