#include "tests/fuzz/archive_mutator.h"

#include <flatbuffers/reflection.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "archive_bfbs_generated.h"
#include "model/archive_generated.h"
#include "model/archive_header.h"
#include "tests/support/archive_mutation.h"

// The engine's own mutations, which know the numbers that the library has compared with.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace millrace::fuzz {
namespace {

namespace format = model::format;
using flatbuffers::Table;
using flatbuffers::VectorOfAny;
using reflection::BaseType;

const reflection::Schema& schema() {
  return *reflection::GetSchema(format::ArchiveBinarySchema::data());
}

// Something in the structure that can change, by its position there.
struct Site {
  enum Kind { kScalar, kVector, kString } kind;
  size_t at;
  BaseType type = BaseType::None;  // of a scalar, of the elements of a vector
  size_t element_bytes = 0;        // of a vector
};

// Lists what can change in a structure. Offsets cannot, except those in a vector.
class SiteList {
 public:
  explicit SiteList(const std::vector<uint8_t>& structure) : structure_(structure) {
    add_table(*schema().root_table(), *flatbuffers::GetAnyRoot(structure.data()));
  }
  const std::vector<Site>& sites() const { return sites_; }
  // Whether the schema has all members of unions; the verifier lets those of a newer one pass,
  // whose parts cannot be copied.
  bool known() const { return known_; }

 private:
  size_t position(const void* pointer) const {
    return static_cast<const uint8_t*>(pointer) - structure_.data();
  }

  static bool is_known_union(const reflection::Object& object, const reflection::Field& field,
                             const Table& table) {
    const auto* type = object.fields()->LookupByKey((field.name()->str() + "_type").c_str());
    const auto number = flatbuffers::GetFieldI<uint8_t>(table, *type);
    const auto* members = schema().enums()->Get(field.type()->index())->values();
    return number != 0 && members->LookupByKey(number) != nullptr;
  }

  void add_table(const reflection::Object& object, const Table& table) {
    for (const reflection::Field* field : *object.fields())
      if (table.CheckField(field->offset())) add_field(object, *field, table);
  }

  void add_field(const reflection::Object& object, const reflection::Field& field,
                 const Table& table) {
    const BaseType type = field.type()->base_type();
    if (type == BaseType::String) {
      sites_.push_back({Site::kString, position(flatbuffers::GetFieldS(table, field))});
    } else if (type == BaseType::Vector) {
      add_vector(field, *flatbuffers::GetFieldAnyV(table, field));
    } else if (type == BaseType::Union) {
      if (!is_known_union(object, field, table)) {
        known_ = false;
        return;
      }
      add_table(flatbuffers::GetUnionType(schema(), object, field, table),
                *flatbuffers::GetFieldT(table, field));
    } else if (type == BaseType::Obj) {
      const reflection::Object& inner = *schema().objects()->Get(field.type()->index());
      if (inner.is_struct())
        add_struct(inner, table.GetAddressOf(field.offset()));
      else
        add_table(inner, *flatbuffers::GetFieldT(table, field));
    } else if (type != BaseType::UType) {
      sites_.push_back({Site::kScalar, position(table.GetAddressOf(field.offset())), type});
    }
  }

  void add_struct(const reflection::Object& object, const uint8_t* address) {
    for (const reflection::Field* field : *object.fields())
      sites_.push_back(
          {Site::kScalar, position(address + field->offset()), field->type()->base_type()});
  }

  void add_vector(const reflection::Field& field, const VectorOfAny& vector) {
    const BaseType type = field.type()->element();
    const reflection::Object* object =
        type == BaseType::Obj ? schema().objects()->Get(field.type()->index()) : nullptr;
    const bool structs = object != nullptr && object->is_struct();
    const size_t bytes = structs ? object->bytesize() : flatbuffers::GetTypeSize(type);
    sites_.push_back({Site::kVector, position(&vector), type, bytes});
    for (size_t i = 0; i < vector.size(); ++i) {
      const uint8_t* element = vector.Data() + i * bytes;
      if (structs)
        add_struct(*object, element);
      else if (object != nullptr)
        add_table(*object, *reinterpret_cast<const Table*>(
                               element + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(element)));
      else
        sites_.push_back({Site::kScalar, position(element), type});
    }
  }

  const std::vector<uint8_t>& structure_;
  std::vector<Site> sites_;
  bool known_ = true;
};

bool holds(const std::vector<uint8_t>& structure) {
  flatbuffers::Verifier verifier(structure.data(), structure.size());
  return format::VerifyArchiveBuffer(verifier);
}

// The same content in a structure that refers to each part once: FlatBuffers can change the size of
// parts of no other. Requirement: the schema has all members of unions.
std::vector<uint8_t> as_tree(const std::vector<uint8_t>& structure) {
  flatbuffers::FlatBufferBuilder builder(2 * structure.size());
  const auto root = flatbuffers::CopyTable(builder, schema(), *schema().root_table(),
                                           *flatbuffers::GetAnyRoot(structure.data()));
  builder.Finish(root, format::ArchiveIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

size_t below(Random& random, size_t bound) {
  return bound == 0 ? 0 : random() % bound;
}

double some_number(double now, Random& random) {
  static constexpr double kNumbers[] = {0,     1,     -1,    2,    3,          4,
                                        7,     16,    64,    255,  65535,      65536,
                                        1e-40, 1e300, -1e30, 0.5,  2147483647, -2147483648.0,
                                        1e18,  -1e18, 1e40,  1e-5, 4294967295, 1099511627776};
  switch (below(random, 8)) {
    case 0:
      return now + 1;
    case 1:
      return now - 1;
    case 2:
      return now * 2;
    case 3:
      return -now;
    case 4:
      return std::numeric_limits<double>::quiet_NaN();
    default:
      return kNumbers[below(random, std::size(kNumbers))];
  }
}

void change_scalar(std::vector<uint8_t>& structure, const Site& site, Random& random) {
  uint8_t* const at = structure.data() + site.at;
  if (site.type == BaseType::Float || site.type == BaseType::Double) {
    const double now = flatbuffers::GetAnyValueF(site.type, at);
    // A number that the type cannot hold becomes infinite.
    if (site.type == BaseType::Float)
      test::store_at(std::as_writable_bytes(std::span(structure)), site.at,
                     static_cast<float>(some_number(now, random)));
    else
      flatbuffers::SetAnyValueF(site.type, at, some_number(now, random));
    return;
  }
  if (below(random, 4) == 0) {
    LLVMFuzzerMutate(at, flatbuffers::GetTypeSize(site.type), flatbuffers::GetTypeSize(site.type));
    return;
  }
  const auto now = static_cast<double>(flatbuffers::GetAnyValueI(site.type, at));
  const double number = some_number(now, random);
  flatbuffers::SetAnyValueI(site.type, at,
                            number >= -9e18 && number <= 9e18 ? static_cast<int64_t>(number) : -1);
}

// Exchanges two elements of a vector, or makes one the same as another. Offsets count from where
// they stand.
void exchange_elements(std::vector<uint8_t>& structure, const Site& site, Random& random) {
  auto& vector = *reinterpret_cast<VectorOfAny*>(structure.data() + site.at);
  if (vector.size() < 2) return;
  uint8_t* const one = vector.Data() + below(random, vector.size()) * site.element_bytes;
  uint8_t* const other = vector.Data() + below(random, vector.size()) * site.element_bytes;
  const bool offsets = site.type == BaseType::String ||
                       (site.type == BaseType::Obj && site.element_bytes == sizeof(uint32_t));
  const auto distance = offsets ? static_cast<int32_t>(one - other) : 0;
  std::vector<uint8_t> kept(one, one + site.element_bytes);
  std::copy_n(other, site.element_bytes, one);
  const bool both = below(random, 2) == 0;
  if (both) std::ranges::copy(kept, other);
  if (!offsets) return;
  const auto move = [](uint8_t* at, int32_t by) {
    flatbuffers::WriteScalar(at, flatbuffers::ReadScalar<uint32_t>(at) + by);
  };
  move(one, -distance);
  if (both && one != other) move(other, distance);
}

// Shortens or lengthens a vector; a new last element is the same as the first.
void resize_vector(std::vector<uint8_t>& structure, const Site& site, Random& random) {
  const auto* vector = reinterpret_cast<const VectorOfAny*>(structure.data() + site.at);
  const uint32_t size = vector->size();
  const uint32_t wanted = below(random, 2) == 0 ? size + 1 : below(random, size + 1);
  if (wanted > size && size == 0 && site.type == BaseType::Obj) return;
  flatbuffers::ResizeAnyVector(schema(), wanted, vector, size,
                               static_cast<uint32_t>(site.element_bytes), &structure);
  if (wanted <= size || size == 0) return;
  uint8_t* const first = structure.data() + site.at + sizeof(uint32_t);
  uint8_t* const last = first + size * site.element_bytes;
  std::copy_n(first, site.element_bytes, last);
  const bool offset = site.type == BaseType::String ||
                      (site.type == BaseType::Obj && site.element_bytes == sizeof(uint32_t));
  if (offset)
    flatbuffers::WriteScalar(
        last, flatbuffers::ReadScalar<uint32_t>(last) - static_cast<uint32_t>(last - first));
}

// For text that is not longer: flatbuffers::SetString may write before the string then.
void overwrite_string(std::vector<uint8_t>& structure, const Site& site, const std::string& text) {
  uint8_t* const length = structure.data() + site.at;
  flatbuffers::WriteScalar(length, static_cast<uint32_t>(text.size()));
  std::copy_n(text.c_str(), text.size() + 1, length + sizeof(uint32_t));
}

void change_string(std::vector<uint8_t>& structure, const Site& site, Random& random) {
  const auto* text = reinterpret_cast<const flatbuffers::String*>(structure.data() + site.at);
  std::string changed = text->str();
  const size_t size = changed.size();
  changed.resize(size + 8);
  changed.resize(
      LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(changed.data()), size, changed.size()));
  if (below(random, 8) == 0) changed.clear();
  if (changed.size() > size)
    flatbuffers::SetString(schema(), changed, text, &structure);
  else
    overwrite_string(structure, site, changed);
}

void change(std::vector<uint8_t>& structure, const Site& site, Random& random) {
  if (site.kind == Site::kScalar) return change_scalar(structure, site, random);
  if (site.kind == Site::kString) return change_string(structure, site, random);
  if (below(random, 2) == 0) return resize_vector(structure, site, random);
  exchange_elements(structure, site, random);
}

std::vector<std::byte> archive_of(const std::vector<uint8_t>& structure,
                                  std::span<const std::byte> segments) {
  model::Header header;
  header.structure_length = static_cast<uint32_t>(structure.size());
  const uint64_t unaligned = model::kHeaderSize + structure.size();
  header.segments_offset = (unaligned + model::kSegmentAlignment - 1) / model::kSegmentAlignment *
                           model::kSegmentAlignment;
  header.segments_length = segments.size();
  header.file_length = header.segments_offset + segments.size();
  std::vector<std::byte> archive(header.file_length);
  std::ranges::copy(model::write_header(header), archive.begin());
  std::ranges::copy(std::as_bytes(std::span(structure)), archive.begin() + model::kHeaderSize);
  std::ranges::copy(segments, archive.begin() + static_cast<ptrdiff_t>(header.segments_offset));
  test::fix_checksums(archive);
  return archive;
}

}  // namespace

std::vector<std::byte> change_archive(std::span<const std::byte> archive, Random& random) {
  std::vector<std::byte> copy(archive.begin(), archive.end());
  if (copy.size() < test::kHeaderBytes) return copy;
  const auto bytes = test::structure_of(copy);
  const auto area = test::load_at<uint64_t>(copy, test::kSegmentsOffsetAt);
  std::vector<uint8_t> structure(bytes.size());
  if (!bytes.empty()) std::memcpy(structure.data(), bytes.data(), bytes.size());
  if (area > copy.size() || structure.empty() || !holds(structure)) return copy;
  if (!SiteList(structure).known()) return copy;
  structure = as_tree(structure);
  for (size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    const std::vector<uint8_t> before = structure;
    const SiteList list(structure);
    change(structure, list.sites()[below(random, list.sites().size())], random);
    structure = holds(structure) ? as_tree(structure) : before;
  }
  return archive_of(structure, std::span(copy).subspan(area));
}

}  // namespace millrace::fuzz
