#include "serve/grpc/wire_form.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <array>
#include <limits>

namespace millrace::serve {
namespace {

// The parts whose fields are counted. Other fields of some length have no parts that take memory.
enum class Part : uint8_t { kRequest, kInput, kContents, kOutput, kEntry, kParameter, kOther };

// The types of the wire, and how a tag holds one.
constexpr uint32_t kVarint = 0, kEightBytes = 1, kLength = 2, kFourBytes = 5;
constexpr uint32_t kTypeBits = 3;

// Returns what a field of some length is, by the numbers of the protocol.
Part part_of(Part outer, uint32_t field) {
  switch (outer) {
    case Part::kRequest:
      return field == 4   ? Part::kEntry
             : field == 5 ? Part::kInput
             : field == 6 ? Part::kOutput
                          : Part::kOther;
    case Part::kInput:
      return field == 4 ? Part::kEntry : field == 5 ? Part::kContents : Part::kOther;
    case Part::kOutput:
      return field == 2 ? Part::kEntry : Part::kOther;
    case Part::kEntry:
      return field == 2 ? Part::kParameter : Part::kOther;
    default:
      return Part::kOther;
  }
}

// The bytes in memory of an element of a tensor, by the number of its field; 0: it is no number.
constexpr std::array<uint64_t, 8> kElementBytes = {0, 1, 4, 8, 4, 8, 4, 8};
// And the fewest bytes that it has in a message, beside others of its field.
constexpr std::array<uint64_t, 8> kFewestBytes = {1, 1, 1, 1, 1, 1, 4, 8};

bool has_elements(Part part, uint32_t field) {
  return part == Part::kContents && field >= 1 && field < kElementBytes.size();
}

// Whether a field is an element of a tensor, as a number.
bool is_element(Part part, uint32_t field, uint32_t type) {
  return has_elements(part, field) && type != kLength;
}

class FieldCounter {
 public:
  explicit FieldCounter(google::protobuf::io::ZeroCopyInputStream& bytes) : stream_(&bytes) {}

  Status count() {
    if (count_part(Part::kRequest)) return {};
    if (fields_ > kMostFields)
      return invalid_argument(fmt::format("the request has more than {} fields", kMostFields));
    return invalid_argument("the message is no request: its fields cannot be told apart");
  }
  // The memory of the elements of all tensors.
  uint64_t element_bytes() const { return element_bytes_; }

 private:
  bool count_part(Part part);
  bool count_value(Part part, uint32_t field, uint32_t type);
  bool count_inner(Part part, uint32_t field);

  google::protobuf::io::CodedInputStream stream_;
  uint32_t fields_ = 0;
  uint64_t element_bytes_ = 0;
};

bool FieldCounter::count_part(Part part) {
  while (const uint32_t tag = stream_.ReadTag()) {
    const uint32_t field = tag >> kTypeBits, type = tag & ((1U << kTypeBits) - 1);
    if (is_element(part, field, type))
      element_bytes_ += kElementBytes[field];
    else if (++fields_ > kMostFields)
      return false;
    if (!count_value(part, field, type)) return false;
  }
  return stream_.ConsumedEntireMessage();
}

bool FieldCounter::count_value(Part part, uint32_t field, uint32_t type) {
  switch (type) {
    case kVarint: {
      uint64_t ignored = 0;
      return stream_.ReadVarint64(&ignored);
    }
    case kEightBytes:
      return stream_.Skip(8);
    case kFourBytes:
      return stream_.Skip(4);
    case kLength:
      return count_inner(part, field);
    default:
      return false;  // groups, which the protocol does not have
  }
}

bool FieldCounter::count_inner(Part part, uint32_t field) {
  const Part inner = part_of(part, field);
  uint32_t length = 0;
  if (!stream_.ReadVarint32(&length) || length > uint32_t{std::numeric_limits<int>::max()})
    return false;
  if (has_elements(part, field))
    element_bytes_ += length / kFewestBytes[field] * kElementBytes[field];
  if (inner == Part::kOther) return stream_.Skip(static_cast<int>(length));
  const auto outer_limit = stream_.PushLimit(static_cast<int>(length));
  const bool whole = count_part(inner) && stream_.BytesUntilLimit() == 0;
  stream_.PopLimit(outer_limit);
  return whole;
}

}  // namespace

Status parse_request(const grpc::ByteBuffer& bytes, MemoryCharge& charge,
                     inference::ModelInferRequest& request) {
  grpc::ByteBuffer shared(bytes);  // the readers want one that is not constant
  {
    grpc::ProtoBufferReader reader(&shared);
    FieldCounter counter(reader);
    MILLRACE_RETURN_IF_ERROR(counter.count());
    if (!charge.take(counter.element_bytes()))
      return {StatusCode::kOutOfMemory, "there is not enough memory for the elements of tensors"};
  }
  grpc::ProtoBufferReader reader(&shared);
  if (request.ParseFromZeroCopyStream(&reader)) return {};
  return invalid_argument("the message is no request: a field has a value of the wrong type");
}

Status read_short_message(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  if (bytes.Length() > kMostShortBytes)
    return invalid_argument(fmt::format("the message has {} bytes, and at most {} are taken",
                                        bytes.Length(), kMostShortBytes));
  grpc::ByteBuffer shared(bytes);
  grpc::ProtoBufferReader reader(&shared);
  if (message.ParseFromZeroCopyStream(&reader)) return {};
  return invalid_argument("the message is none of this call");
}

Status write_message(const google::protobuf::Message& message, grpc::ByteBuffer& bytes) {
  Status failed = {StatusCode::kResourceExhausted,
                   "the answer is longer than a message of gRPC can be"};
  if (message.ByteSizeLong() > size_t{std::numeric_limits<int>::max()}) return failed;
  bool own = false;
  const auto written =
      grpc::SerializationTraits<google::protobuf::Message>::Serialize(message, &bytes, &own);
  return written.ok() ? Status() : failed;
}

}  // namespace millrace::serve
