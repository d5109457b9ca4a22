// The mutations of the importer's target: changes to the messages of an ONNX model, which stays
// one.
#include <google/protobuf/message.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace millrace::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Random = std::mt19937;

size_t below(Random& random, size_t bound) {
  return bound == 0 ? 0 : random() % bound;
}

// The message and all messages in it.
void collect(Message& message, std::vector<Message*>& messages) {
  messages.push_back(&message);
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      collect(*reflection.MutableMessage(&message, field), messages);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      collect(*reflection.MutableRepeatedMessage(&message, field, i), messages);
  }
}

int64_t some_integer(Random& random) {
  static constexpr int64_t kNumbers[] = {0,
                                         1,
                                         -1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         6,
                                         7,
                                         8,
                                         9,
                                         10,
                                         11,
                                         12,
                                         13,
                                         14,
                                         16,
                                         17,
                                         255,
                                         65536,
                                         1 << 20,
                                         INT32_MAX,
                                         INT32_MIN,
                                         int64_t{1} << 32,
                                         int64_t{1} << 40,
                                         INT64_MAX,
                                         INT64_MIN};
  return kNumbers[below(random, std::size(kNumbers))];
}

float some_float(Random& random) {
  static constexpr float kNumbers[] = {0, 1, -1, 0.5f, 2, 1e30f, -1e30f, 1e-40f, INFINITY, NAN};
  return kNumbers[below(random, std::size(kNumbers))];
}

// A text from elsewhere in the model, so that names meet; otherwise what the engine makes of it.
std::string some_text(std::string text, const std::vector<Message*>& messages, Random& random) {
  const Message& other = *messages[below(random, messages.size())];
  std::vector<const FieldDescriptor*> fields;
  other.GetReflection()->ListFields(other, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING || below(random, 2) == 0) continue;
    const auto& reflection = *other.GetReflection();
    if (!field->is_repeated()) return reflection.GetString(other, field);
    const int size = reflection.FieldSize(other, field);
    return reflection.GetRepeatedString(other, field, static_cast<int>(below(random, size)));
  }
  const size_t size = text.size();
  text.resize(size + 8);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size()));
  return text;
}

// Sets the field, or appends to it, or sets one of its elements.
class FieldChange {
 public:
  FieldChange(Message& message, const FieldDescriptor& field, const std::vector<Message*>& messages,
              Random& random)
      : message_(message),
        field_(&field),
        reflection_(*message.GetReflection()),
        messages_(messages),
        random_(random) {}

  void run() {
    if (below(random_, 8) == 0) return reflection_.ClearField(&message_, field_);
    if (!field_->is_repeated()) return set();
    const int size = reflection_.FieldSize(message_, field_);
    switch (below(random_, 4)) {
      case 0:
        return append();
      case 1:
        if (size > 0) reflection_.RemoveLast(&message_, field_);
        return;
      case 2:
        if (size > 1)
          reflection_.SwapElements(&message_, field_, static_cast<int>(below(random_, size)),
                                   static_cast<int>(below(random_, size)));
        return;
      default:
        if (size > 0) set_element(static_cast<int>(below(random_, size)));
    }
  }

 private:
  void set() {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection_.SetInt32(&message_, field_, static_cast<int32_t>(some_integer(random_)));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection_.SetInt64(&message_, field_, some_integer(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection_.SetFloat(&message_, field_, some_float(random_));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection_.SetEnumValue(&message_, field_, static_cast<int>(below(random_, 25)));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.SetString(&message_, field_,
                                     text(reflection_.GetString(message_, field_)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (const auto copy = some_message())
          reflection_.MutableMessage(&message_, field_)->CopyFrom(*copy);
        return;
      default:
        break;
    }
  }

  void append() {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection_.AddInt32(&message_, field_, static_cast<int32_t>(some_integer(random_)));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection_.AddInt64(&message_, field_, some_integer(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection_.AddFloat(&message_, field_, some_float(random_));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.AddString(&message_, field_, text({}));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (const auto copy = some_message())
          reflection_.AddMessage(&message_, field_)->CopyFrom(*copy);
        return;
      default:
        break;
    }
  }

  void set_element(int index) {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection_.SetRepeatedInt32(&message_, field_, index,
                                            static_cast<int32_t>(some_integer(random_)));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection_.SetRepeatedInt64(&message_, field_, index, some_integer(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection_.SetRepeatedFloat(&message_, field_, index, some_float(random_));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection_.SetRepeatedString(
            &message_, field_, index, text(reflection_.GetRepeatedString(message_, field_, index)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (const auto copy = some_message())
          reflection_.MutableRepeatedMessage(&message_, field_, index)->CopyFrom(*copy);
        return;
      default:
        break;
    }
  }

  std::string text(std::string now) { return some_text(std::move(now), messages_, random_); }

  // A copy of some message of the field's kind, made before the field changes: a new member of a
  // union destroys the one before it.
  std::unique_ptr<Message> some_message() {
    std::vector<const Message*> same;
    for (const Message* other : messages_)
      if (other->GetDescriptor() == field_->message_type()) same.push_back(other);
    if (same.empty()) return nullptr;
    const Message& chosen = *same[below(random_, same.size())];
    std::unique_ptr<Message> copy(chosen.New());
    copy->CopyFrom(chosen);
    return copy;
  }

  Message& message_;
  const FieldDescriptor* const field_;
  const google::protobuf::Reflection& reflection_;
  const std::vector<Message*>& messages_;
  Random& random_;
};

void change(::onnx::ModelProto& model, Random& random) {
  std::vector<Message*> messages;
  collect(model, messages);
  Message& message = *messages[below(random, messages.size())];
  const auto& descriptor = *message.GetDescriptor();
  const auto* field = descriptor.field(static_cast<int>(below(random, descriptor.field_count())));
  // Fields that are present matter more than those that could be.
  std::vector<const FieldDescriptor*> present;
  message.GetReflection()->ListFields(message, &present);
  if (!present.empty() && below(random, 4) != 0) field = present[below(random, present.size())];
  FieldChange(message, *field, messages, random).run();
}

}  // namespace
}  // namespace millrace::fuzz

// Nine of ten change messages, the others any bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  millrace::fuzz::Random random(seed);
  ::onnx::ModelProto model;
  if (random() % 10 != 0 && model.ParsePartialFromArray(data, static_cast<int>(size))) {
    for (size_t changes = 1 + random() % 4; changes > 0; --changes)
      millrace::fuzz::change(model, random);
    const size_t changed = model.ByteSizeLong();
    if (changed > 0 && changed <= max_size &&
        model.SerializePartialToArray(data, static_cast<int>(changed)))
      return changed;
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
