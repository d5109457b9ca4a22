#include "device/cpu/weights/packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/align.h"
#include "base/files/trusted_file.h"
#include "base/log.h"
#include "device/cpu/dnnl/openmp/openmp.h"
#include "device/cpu/dnnl/reorder.h"
#include "device/cpu/weights/constant_numbers.h"
#include "model/checksum.h"
#include "model/files/temporary_output.h"
#include "model/stated_checksums.h"
#include "queue/lanes/shared_loop.h"

namespace millrace::device::cpu {
namespace {

// Below this a lane would come too late to be of use.
constexpr size_t kWorthALane = size_t{1} << 20;

// Runs `work` for each number in `order`, on as many threads as come.
class Tasks {
 public:
  Tasks(std::vector<size_t> order, const std::function<Status(size_t)>& work)
      : order_(std::move(order)), work_(work) {}

  void take() noexcept {
    const OpenMpThreads one_thread;
    const Status status = guarded([this]() -> Status {
      for (size_t i = next_++; i < order_.size(); i = next_++)
        MILLRACE_RETURN_IF_ERROR(work_(order_[i]));
      return {};
    });
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    status_ = status;
  }

  // After all threads have returned from take().
  const Status& status() const noexcept { return status_; }

 private:
  const std::vector<size_t> order_;
  const std::function<Status(size_t)>& work_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  Status status_;
};

// The elements of a constant as numbers, where they are or in `memory`.
const void* numbers_of(const graph::Value& constant, std::vector<float>& memory) {
  if (constant.type == tensor::DataType::kFloat32) return constant.constant->bytes.data();
  memory = constant_numbers(constant);
  return memory.data();
}

void reorder_constant(const graph::Value& constant, const Desc& from, const Desc& to,
                      std::byte* data, const dnnl::engine& engine) {
  std::vector<float> memory;
  const void* const elements = from.data_type() == ElementType::f32
                                   ? numbers_of(constant, memory)
                                   : constant.constant->bytes.data();
  reorder(engine, dnnl::stream(engine), from, elements, to, data);
}

uint64_t checksum_of(std::span<const std::byte> bytes, bool as_stated) {
  const auto stated = as_stated ? model::stated_checksum_of(bytes) : std::nullopt;
  return stated ? *stated : model::checksum_of(bytes);
}

void warn(const std::string& path, const Status& why) {
  log(LogLevel::kWarning, "cpu", fmt::format("packed weights \"{}\": {}", path, why.message()));
}

// Returns the folder of packed weights; empty if there is none, or if others could replace them.
std::string folder_in_force() {
  std::string folder = packed_folder();
  if (folder.empty()) return folder;
  const Status trusted = check_trusted_folder(folder);
  if (trusted.ok()) return folder;
  warn(folder, trusted);
  return {};
}

// Names everything about the packing code on which the bytes may depend.
std::string maker() {
  return fmt::format("{} with instructions {:#x}", library_version(),
                     static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
}

// Names all that determines the packed elements of a constant, besides its elements, its layout,
// and packing code.
std::string describe(const graph::Value& constant) {
  std::string text = fmt::format("{} {} ", static_cast<int>(constant.type), constant.shape.size());
  for (const int64_t dim : constant.shape) text += fmt::format("{} ", dim);
  if (constant.quantisation) {
    const graph::Quantisation& by = *constant.quantisation;
    text += fmt::format("{} {:x} {:x} ", by.axis,
                        model::checksum_of(std::as_bytes(std::span(by.scales))),
                        model::checksum_of(std::as_bytes(std::span(by.zero_points))));
  }
  return text;
}

}  // namespace

void Packing::add(const graph::Value& constant, const Desc& from, const Desc& to, BufferId buffer) {
  add({&constant, from, to, {}, buffer, 0});
}

void Packing::add(const graph::Value& constant, Arrangement to, BufferId buffer) {
  add({&constant, {}, {}, std::move(to), buffer, 0});
}

void Packing::add(Item item) {
  const size_t bytes = item.bytes();
  item.offset = align_up(bytes_, ConstantMemory::alignment_of(bytes));
  bytes_ = item.offset + bytes;
  items_.push_back(std::move(item));
}

Status Packing::for_each(queue::Lanes& lanes, const std::function<Status(size_t)>& work) const {
  // Large ones first, so that all threads are done at about the same time.
  std::vector<size_t> order(items_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [this](size_t i) { return items_[i].bytes(); });
  Tasks tasks(std::move(order), work);
  if (bytes_ >= kWorthALane)
    if (const auto loop = queue::SharedLoop::create(lanes); loop.ok())
      (*loop)->run(lanes.count(), [&tasks](uint32_t, uint32_t) { tasks.take(); });
  tasks.take();
  return tasks.status();
}

Result<PackedOrigin> Packing::origin(queue::Lanes& lanes, bool as_stated) const {
  std::vector<std::string> constants(items_.size()), layouts(items_.size());
  MILLRACE_RETURN_IF_ERROR(for_each(lanes, [&](size_t i) -> Status {
    const Item& item = items_[i];
    constants[i] = fmt::format("{:x} {}", checksum_of(item.constant->constant->bytes, as_stated),
                               describe(*item.constant));
    layouts[i] = item.layout();
    return {};
  }));
  const auto hash_of = [](const std::vector<std::string>& parts) {
    return packed_hash(std::accumulate(parts.begin(), parts.end(), std::string()));
  };
  return PackedOrigin{hash_of(constants), hash_of(layouts), packed_hash(maker())};
}

Status Packing::map(queue::Lanes& lanes, const PackedOrigin& origin, const std::string& path) {
  const size_t head = packed_head_bytes(items_.size());
  MILLRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const model::MappedFile> file,
                            open_packed(path, origin, items_.size(), head + bytes_));
  MILLRACE_RETURN_IF_ERROR(for_each(lanes, [&](size_t i) -> Status {
    const auto bytes = file->bytes().subspan(head + items_[i].offset, items_[i].bytes());
    if (model::checksum_of(bytes) != packed_checksum(*file, i))
      return corrupt_data("it is damaged");
    return {};
  }));
  file_ = file;
  return {};
}

Status Packing::pack(queue::Lanes& lanes, const dnnl::engine& engine, std::byte* block) const {
  return for_each(lanes, [&](size_t i) -> Status {
    const Item& item = items_[i];
    std::byte* const data = block + item.offset;
    if (!item.arrangement.arrange) {
      reorder_constant(*item.constant, item.from, item.to, data, engine);
      return {};
    }
    std::vector<float> memory;
    item.arrangement.arrange(static_cast<const float*>(numbers_of(*item.constant, memory)), data);
    return {};
  });
}

Status Packing::keep(queue::Lanes& lanes, const PackedOrigin& origin, const std::string& path,
                     std::byte* head) const {
  const size_t head_bytes = packed_head_bytes(items_.size());
  std::vector<uint64_t> checksums(items_.size());
  MILLRACE_RETURN_IF_ERROR(for_each(lanes, [&](size_t i) -> Status {
    checksums[i] = model::checksum_of({head + head_bytes + items_[i].offset, items_[i].bytes()});
    return {};
  }));
  for (size_t i = 0; i + 1 < items_.size(); ++i)  // nothing of other memory gets into the file
    std::fill(head + head_bytes + items_[i].offset + items_[i].bytes(),
              head + head_bytes + items_[i + 1].offset, std::byte{0});
  write_packed_head({head, head_bytes}, origin, checksums);
  // Only files are kept there.
  MILLRACE_ASSIGN_OR_RETURN(model::TemporaryFile file, model::TemporaryFile::create(path));
  MILLRACE_RETURN_IF_ERROR(file.fill([&](const model::Sink& sink) {
    return sink({head, head_bytes + bytes_});
  }));
  return file.commit();
}

// At once for constants that lie one behind the other: each call interrupts the other cores.
void Packing::release_constants() const {
  std::vector<std::span<const std::byte>> spans;
  for (const Item& item : items_) spans.push_back(item.constant->constant->bytes);
  std::ranges::sort(spans, {}, [](const auto& span) { return span.data(); });
  for (size_t i = 0; i < spans.size();) {
    const std::byte* const begin = spans[i].data();
    const std::byte* end = begin;
    for (; i < spans.size() && spans[i].data() <= end + kPage; ++i)
      end = std::max(end, spans[i].data() + spans[i].size());
    model::release_pages({begin, end});
  }
}

void Packing::place(const std::byte* block, BufferLayout& layout) const {
  for (const Item& item : items_) layout.locations[item.buffer].constant = block + item.offset;
}

std::string Packing::Item::layout() const {
  return arrangement.arrange ? arrangement.identity : identity_of(from) + identity_of(to);
}

PackedStore::Key Packing::Item::key() const {
  return {constant->constant->bytes.data(), describe(*constant) + layout()};
}

void Packing::take_stored(PackedStore& store, ConstantMemory& constants, BufferLayout& layout) {
  std::vector<Item> missing;
  for (Item& item : items_) {
    std::shared_ptr<const std::byte> packed = store.find(item.key());
    if (packed == nullptr) {
      missing.push_back(std::move(item));
      continue;
    }
    layout.locations[item.buffer].constant = packed.get();
    constants.hold(std::move(packed));
  }
  items_.clear();
  bytes_ = 0;
  for (Item& item : missing) add(std::move(item));
}

void Packing::store_block(PackedStore& store, const std::shared_ptr<const void>& owner,
                          const std::byte* block) const {
  store.drop_expired();
  for (const Item& item : items_)
    store.keep(item.key(), *item.constant->constant,
               std::shared_ptr<const std::byte>(owner, block + item.offset));
}

Status Packing::run(queue::Lanes& lanes, const dnnl::engine& engine, PackedStore& store,
                    ConstantMemory& constants, BufferLayout& layout) {
  take_stored(store, constants, layout);
  if (items_.empty()) return {};
  const std::string folder = folder_in_force();
  MILLRACE_ASSIGN_OR_RETURN(const std::byte* const block,
                            folder.empty() ? pack_all(lanes, engine, constants)
                                           : find_or_keep(folder, lanes, engine, constants));
  place(block, layout);
  store_block(store, file_ != nullptr ? file_ : constants.owner_of_last(), block);
  release_constants();
  return {};
}

Result<const std::byte*> Packing::pack_all(queue::Lanes& lanes, const dnnl::engine& engine,
                                           ConstantMemory& constants) const {
  std::byte* const block = constants.take(bytes_);
  MILLRACE_RETURN_IF_ERROR(pack(lanes, engine, block));
  return block;
}

// A file is found by what the archive states of its constants, which is compared meanwhile. What is
// packed anew may be that of a damaged archive, and is kept as what it is.
Result<const std::byte*> Packing::find_or_keep(const std::string& folder, queue::Lanes& lanes,
                                               const dnnl::engine& engine,
                                               ConstantMemory& constants) {
  const size_t head_bytes = packed_head_bytes(items_.size());
  MILLRACE_ASSIGN_OR_RETURN(const PackedOrigin stated, origin(lanes, true));
  const Status found = map(lanes, stated, packed_path(folder, stated));
  if (found.ok()) return file_->bytes().data() + head_bytes;
  MILLRACE_ASSIGN_OR_RETURN(const PackedOrigin origin, this->origin(lanes, false));
  const std::string path = packed_path(folder, origin);
  std::byte* const head = constants.take(head_bytes + bytes_);
  MILLRACE_RETURN_IF_ERROR(pack(lanes, engine, head + head_bytes));
  Status kept = found.code() == StatusCode::kNotFound ? Status() : found;
  if (const Status written = keep(lanes, origin, path, head); !written.ok()) kept = written;
  if (!kept.ok()) warn(path, kept);
  return head + head_bytes;
}

}  // namespace millrace::device::cpu
