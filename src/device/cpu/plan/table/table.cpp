#include "device/cpu/plan/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace millrace::device::cpu::plan {
namespace {

// A logarithm. Beyond it, times are no more in proportion to products.
constexpr double kFarthest = 1.1;
// Less than that is rounding of logarithms, which differs between libraries.
constexpr double kLeastDifference = 1e-9;
// Sums of times must not overflow, whatever is asked for.
constexpr uint64_t kLongest = 1'000'000'000'000;
constexpr uint64_t kMostSize = uint64_t{1} << 40;
// Vectors of AVX-512; those of AVX2 hold 8, but what fills the former fills them as well.
constexpr uint64_t kBlock = 16;

// A table is read when the first model is loaded, so nothing is allocated for its words.
class Words {
 public:
  explicit Words(std::string_view line) {
    while (count_ < words_.size()) {
      const size_t end = std::min(line.find(' '), line.size());
      words_[count_++] = line.substr(0, end);
      if (end == line.size()) return;
      line.remove_prefix(end + 1);
    }
    count_ = 0;  // more than any line has
  }
  size_t size() const { return count_; }
  std::string_view operator[](size_t i) const { return words_[i]; }

 private:
  std::array<std::string_view, 24> words_;
  size_t count_ = 0;
};

// From 1 to `most`.
std::optional<uint64_t> size_of(std::string_view word, uint64_t most) {
  uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [read, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || read != end || number == 0 || number > most) return std::nullopt;
  return number;
}

std::optional<ElementType> type_of(std::string_view word) {
  if (word == "f32") return ElementType::f32;
  if (word == "bf16") return ElementType::bf16;
  return std::nullopt;
}

std::optional<LayerKind> kind_of(std::string_view word) {
  if (word == "dense") return LayerKind::kDense;
  if (word == "depthwise") return LayerKind::kDepthwise;
  if (word == "separable") return LayerKind::kSeparable;
  return std::nullopt;
}

std::optional<ImageLayout> layout_of(std::string_view word) {
  if (word == "plain") return ImageLayout::kPlain;
  if (word == "blocks") return ImageLayout::kBlocks;
  if (word == "innermost") return ImageLayout::kInnermost;
  return std::nullopt;
}

double number(uint64_t size) {
  return static_cast<double>(size);
}

// Multiplications, but for a factor that layers which are compared have in common.
double products_of(const Layer& layer) {
  const double pairs = number(layer.channels_in) * number(layer.channels_out);
  return number(layer.images) * number(layer.elements) *
         (layer.kind == LayerKind::kDepthwise ? number(layer.channels_out) : pairs);
}

bool is_whole(uint64_t channels) {
  return channels % kBlock == 0;
}

bool is_alike(const Layer& a, const Layer& b) {
  return a.type == b.type && a.kind == b.kind && a.taps == b.taps && a.stride == b.stride &&
         is_whole(a.channels_in) == is_whole(b.channels_in) &&
         is_whole(a.channels_out) == is_whole(b.channels_out);
}

double distance(const Place& a, const Place& b) {
  return std::abs(a.channels_in - b.channels_in) + std::abs(a.channels_out - b.channels_out) +
         std::abs(a.elements - b.elements);
}

Place place_of(const Layer& layer) {
  // The channels of a depthwise convolution count once.
  return {layer.kind == LayerKind::kDepthwise ? 0 : std::log(number(layer.channels_in)),
          std::log(number(layer.channels_out)), std::log(number(layer.elements))};
}

uint64_t scaled(uint64_t nanoseconds, double factor) {
  return static_cast<uint64_t>(std::min(number(nanoseconds) * factor, number(kLongest)));
}

}  // namespace

std::optional<Table::Row> Table::row_of(std::string_view line) {
  const Words words(line);
  constexpr size_t kFirstForm = 8;
  constexpr uint64_t kMostSide = uint64_t{1} << 20;
  if (words.size() < kFirstForm + 2 || words.size() % 2 != 0) return std::nullopt;
  const auto type = type_of(words[1]);
  const auto kind = kind_of(words[2]);
  const auto taps = size_of(words[3], kMostSize), stride = size_of(words[4], kMostSize),
             in = size_of(words[5], kMostSize), out = size_of(words[6], kMostSize),
             side = size_of(words[7], kMostSide);
  if (!type || !kind || !taps || !stride || !in || !out || !side) return std::nullopt;
  Row row{{*type, *kind, *taps, *stride, *in, *out, *side * *side}, {}, {}};
  row.place = place_of(row.layer);
  row.times.reserve((words.size() - kFirstForm) / 2);
  for (size_t i = kFirstForm; i < words.size(); i += 2) {
    const auto form = form_named(words[i]);
    const auto nanoseconds = size_of(words[i + 1], kLongest);
    if (!form || !nanoseconds || std::ranges::count(row.times, *form, &FormTime::form) != 0)
      return std::nullopt;
    row.times.push_back({*form, *nanoseconds});
  }
  return row;
}

std::optional<Table::Move> Table::move_of(std::string_view line) {
  const Words words(line);
  if (words.size() != 6) return std::nullopt;
  const auto type = type_of(words[1]);
  const auto elements = size_of(words[2], kMostSize), nanoseconds = size_of(words[5], kLongest);
  const auto from = layout_of(words[3]), to = layout_of(words[4]);
  if (!type || !elements || !from || !to || !nanoseconds) return std::nullopt;
  return Move{*type, *elements, *from, *to, *nanoseconds};
}

Result<Table> Table::parse(std::string_view text) {
  Table table;
  table.rows_.reserve(static_cast<size_t>(std::ranges::count(text, '\n')));
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (auto row = line.starts_with("conv ") ? row_of(line) : std::nullopt)
      table.rows_.push_back(*std::move(row));
    else if (const auto move = line.starts_with("move ") ? move_of(line) : std::nullopt)
      table.moves_.push_back(*move);
    else
      return corrupt_data(fmt::format("line {} makes no sense", number));
  }
  return table;
}

std::vector<FormTime> Table::times(const Layer& layer) const {
  const Row* nearest = nullptr;
  double least = kFarthest;
  const Place place = place_of(layer);
  for (const Row& row : rows_) {
    if (!is_alike(row.layer, layer)) continue;
    const double far = distance(row.place, place);
    if (!(far < least - kLeastDifference)) continue;
    nearest = &row;
    least = far;
  }
  if (nearest == nullptr) return {};
  std::vector<FormTime> times = nearest->times;
  const double factor = products_of(layer) / products_of(nearest->layer);
  for (FormTime& each : times) each.nanoseconds = scaled(each.nanoseconds, factor);
  return times;
}

std::optional<uint64_t> Table::move(ElementType type, uint64_t elements, ImageLayout from,
                                    ImageLayout to) const {
  const Move* nearest = nullptr;
  // By their ratio.
  const auto far = [elements](const Move& move) {
    const double ratio = number(move.elements) / number(elements);
    return std::max(ratio, 1 / ratio);
  };
  for (const Move& move : moves_)
    if (move.type == type && move.from == from && move.to == to &&
        (nearest == nullptr || far(move) < far(*nearest)))
      nearest = &move;
  if (nearest == nullptr) return std::nullopt;
  return scaled(nearest->nanoseconds, number(elements) / number(nearest->elements));
}

}  // namespace millrace::device::cpu::plan
