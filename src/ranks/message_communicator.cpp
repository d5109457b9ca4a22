// Each operation fills parts_ (the data to send to and receive from each rank) and exchanges them
// over the channel. Operands that a received block could overwrite before they are sent are first
// copied to the scratch memory.
#include "ranks/message_communicator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/contained.h"
#include "base/exchange_events.h"
#include "base/hooks.h"
#include "base/log.h"
#include "ranks/reduce.h"

namespace millrace::ranks {
namespace {

// An all_reduce of up to this many bytes sends all data to every rank, however many ranks there
// are.
constexpr size_t kAlwaysWhole = 8192;

Status check_elements(size_t bytes, Element element) {
  const size_t size = size_of(element);
  if (size != 0 && bytes % size == 0) return {};
  return invalid_argument(fmt::format("{} bytes are not a whole number of elements of type {}",
                                      bytes, to_string(element)));
}

Status check_same_size(size_t input, size_t output) {
  if (input == output) return {};
  return invalid_argument(
      fmt::format("the input has {} bytes, the output {}: they must be equal", input, output));
}

Status check_blocks(uint32_t blocks, uint32_t ranks) {
  if (blocks == ranks) return {};
  return invalid_argument(
      fmt::format("there are {} blocks of memory for {} ranks: one each is needed", blocks, ranks));
}

Status check_rank(uint32_t rank, uint32_t ranks) {
  if (rank < ranks) return {};
  return invalid_argument(fmt::format("there is no rank {} in a group of {}", rank, ranks));
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

void copy(std::span<const std::byte> from, std::byte* to) noexcept {
  if (!from.empty()) std::memmove(to, from.data(), from.size());
}

// Returns a text such as "rank 1 of 0, 1, 2, 3", of numbers among all ranks.
std::string names_of(const Channel& channel) {
  return fmt::format("rank {} of {}", channel.ranks()[channel.rank()],
                     fmt::join(channel.ranks(), ", "));
}

// The time for which a rank that has lost another one keeps its connections to the remaining ranks,
// so that they receive the reason. Closing a connection discards data in transit; they would see
// that this rank has ended, and not which rank was the first.
class GracePeriod final : public WaitCheck {
 public:
  // The limits of the operation end it, too.
  explicit GracePeriod(OperationWait& wait) noexcept : wait_(wait) {}

  Status check() noexcept override {
    MILLRACE_RETURN_IF_ERROR(wait_.check());
    if (std::chrono::steady_clock::now() < end_) return {};
    return {StatusCode::kDeadlineExceeded, "the other ranks have not ended"};
  }

 private:
  OperationWait& wait_;
  const Deadline end_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace

MessageCommunicator::MessageCommunicator(std::unique_ptr<Channel> channel,
                                         std::chrono::nanoseconds timeout)
    : channel_(std::move(channel)),
      timeout_(timeout),
      names_(names_of(*channel_)),
      parts_(channel_->size()),
      operands_(channel_->size()) {}

Result<std::shared_ptr<MessageCommunicator>> MessageCommunicator::make(
    std::unique_ptr<Transport> transport, std::chrono::nanoseconds timeout) {
  const uint32_t own = transport->rank();
  std::vector<uint32_t> ranks(transport->size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<Channel> channel,
      Channel::open(std::make_shared<Link>(std::move(transport)), std::move(ranks), own, 0));
  return std::shared_ptr<MessageCommunicator>(new MessageCommunicator(std::move(channel), timeout));
}

Result<std::shared_ptr<Communicator>> MessageCommunicator::group(std::span<const uint32_t> ranks,
                                                                 uint32_t channel) {
  std::vector<uint32_t> members;
  std::optional<uint32_t> own;
  for (const uint32_t rank : ranks) {
    MILLRACE_RETURN_IF_ERROR(check_rank(rank, size()));
    if (rank == this->rank()) own = static_cast<uint32_t>(members.size());
    const uint32_t member = channel_->ranks()[rank];
    if (std::ranges::find(members, member) != members.end())
      return invalid_argument(fmt::format("rank {} is in the group twice", rank));
    members.push_back(member);
  }
  if (!own)
    return invalid_argument(fmt::format("rank {} is not in the group that it asks for", rank()));
  MILLRACE_RETURN_IF_ERROR(channel_->link().failure());
  // Channel number 0 belongs to the first communicator, that of all ranks.
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<Channel> opened,
      Channel::open(channel_->shared_link(), std::move(members), *own, channel + 1));
  return std::shared_ptr<Communicator>(new MessageCommunicator(std::move(opened), timeout_));
}

template <class Body>
Status MessageCommunicator::run(Signature signature, const Limit& limit, Body&& body,
                                std::string_view name) {
  MILLRACE_RETURN_IF_ERROR(channel_->link().failure());
  signature.number = ++operations_;
  OperationWait wait(signature, limit, timeout_);
  const ExchangeId exchange =
      begin_exchange(name.empty() ? name_of(signature.operation) : name, names_, signature.bytes);
  Status status = contained([&] { return body(signature, wait); });
  end_exchange(exchange, status.code());
  if (status.ok()) return status;
  const Status told = contained([&] {
    channel_->tell_reason(status);
    if (status.code() == StatusCode::kIoError) {
      GracePeriod grace(wait);
      channel_->await_ends(grace);
    }
    return Status();
  });
  if (!told.ok()) log(LogLevel::kDebug, "ranks", told.message());
  channel_->link().fail(status);
  return status;
}

Status MessageCommunicator::exchange_once(const Signature& signature, const Limit& limit,
                                          std::string_view name) {
  return run(
      signature, limit,
      [&](const Signature& numbered, OperationWait& wait) {
        return channel_->exchange(numbered, parts_, wait);
      },
      name);
}

std::byte* MessageCommunicator::scratch(size_t bytes) {
  if (scratch_.size() < bytes) scratch_ = std::vector<std::byte>(bytes);
  return scratch_.data();
}

size_t MessageCommunicator::piece_begin(uint32_t rank, size_t count) const noexcept {
  const size_t each = count / size(), longer = count % size();
  return rank * each + std::min<size_t>(rank, longer);
}

void MessageCommunicator::reduce_scratch(std::span<const std::byte> own, size_t stride,
                                         std::byte* output, const Signature& signature) noexcept {
  for (uint32_t r = 0; r < size(); ++r)
    operands_[r] = r == rank() ? own.data() : scratch_.data() + r * stride;
  reduce(operands_, output, own.size() / size_of(signature.element), signature.element,
         signature.reduction);
}

Status MessageCommunicator::reduce_whole(const Signature& signature,
                                         std::span<const std::byte> input,
                                         std::span<std::byte> output, OperationWait& wait) {
  std::byte* const received = scratch(size() * input.size());
  for (uint32_t r = 0; r < size(); ++r)
    parts_[r] = {input, {received + r * input.size(), input.size()}};
  MILLRACE_RETURN_IF_ERROR(channel_->exchange(signature, parts_, wait));
  reduce_scratch(input, input.size(), output.data(), signature);
  return {};
}

Status MessageCommunicator::reduce_in_pieces(const Signature& signature,
                                             std::span<const std::byte> input,
                                             std::span<std::byte> output, OperationWait& wait) {
  const size_t element = size_of(signature.element), count = input.size() / element;
  const auto piece = [&](auto data, uint32_t r) {
    const size_t begin = piece_begin(r, count), end = piece_begin(r + 1, count);
    return data.subspan(begin * element, (end - begin) * element);
  };
  const std::span<const std::byte> own = piece(input, rank());
  std::byte* const received = scratch(size() * own.size());
  for (uint32_t r = 0; r < size(); ++r)
    parts_[r] = {piece(input, r), {received + r * own.size(), own.size()}};
  MILLRACE_RETURN_IF_ERROR(channel_->exchange(signature, parts_, wait));
  const std::span<std::byte> result = piece(output, rank());
  reduce_scratch(own, own.size(), result.data(), signature);
  for (uint32_t r = 0; r < size(); ++r) parts_[r] = {result, piece(output, r)};
  return channel_->exchange_more(parts_, wait);
}

Status MessageCommunicator::all_reduce(std::span<const std::byte> input,
                                       std::span<std::byte> output, Element element,
                                       Reduction reduction, const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(check_elements(input.size(), element));
  MILLRACE_RETURN_IF_ERROR(check_same_size(input.size(), output.size()));
  const std::lock_guard lock(mutex_);
  return run({.operation = Operation::kAllReduce,
              .element = element,
              .reduction = reduction,
              .bytes = input.size()},
             limit, [&](const Signature& signature, OperationWait& wait) {
               // For short data, reduce_whole() is faster: it takes one step instead of two.
               return input.size() <= kAlwaysWhole || input.size() * (size() - 1) <= kFrameData
                          ? reduce_whole(signature, input, output, wait)
                          : reduce_in_pieces(signature, input, output, wait);
             });
}

Status MessageCommunicator::reduce_scatter(const InputBlocks& inputs, std::span<std::byte> output,
                                           Element element, Reduction reduction,
                                           const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(check_blocks(inputs.count(), size()));
  MILLRACE_RETURN_IF_ERROR(check_elements(output.size(), element));
  MILLRACE_RETURN_IF_ERROR(check_same_size(inputs.bytes_each(), output.size()));
  const std::lock_guard lock(mutex_);
  std::byte* const received = scratch(size() * output.size());
  for (uint32_t r = 0; r < size(); ++r)
    parts_[r] = {inputs[r], {received + r * output.size(), output.size()}};
  const Signature signature{.operation = Operation::kReduceScatter,
                            .element = element,
                            .reduction = reduction,
                            .bytes = output.size()};
  MILLRACE_RETURN_IF_ERROR(exchange_once(signature, limit));
  reduce_scratch(inputs[rank()], output.size(), output.data(), signature);
  return {};
}

Status MessageCommunicator::all_gather(std::span<const std::byte> input,
                                       const OutputBlocks& outputs, const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(check_blocks(outputs.count(), size()));
  MILLRACE_RETURN_IF_ERROR(check_same_size(input.size(), outputs.bytes_each()));
  const std::lock_guard lock(mutex_);
  std::span<const std::byte> sent = input;
  for (uint32_t r = 0; r < size(); ++r) {
    // The block received from rank r could overwrite the input before that has been sent.
    if (r == rank() || !overlap(input, outputs[r])) continue;
    copy(input, scratch(input.size()));
    sent = {scratch_.data(), input.size()};
  }
  for (uint32_t r = 0; r < size(); ++r) parts_[r] = {sent, outputs[r]};
  MILLRACE_RETURN_IF_ERROR(
      exchange_once({.operation = Operation::kAllGather, .bytes = input.size()}, limit));
  copy(sent, outputs[rank()].data());
  return {};
}

Status MessageCommunicator::broadcast(std::span<std::byte> data, uint32_t root,
                                      const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(check_rank(root, size()));
  const std::lock_guard lock(mutex_);
  for (uint32_t r = 0; r < size(); ++r) {
    parts_[r] = {};
    if (root == rank()) parts_[r].send = data;
    if (root == r) parts_[r].receive = data;
  }
  std::string name;
  if (hooks_observed()) name = fmt::format("broadcast from {}", number_of(root));
  return exchange_once({.operation = Operation::kBroadcast, .bytes = data.size(), .root = root},
                       limit, name);
}

Status MessageCommunicator::all_to_all(const InputBlocks& inputs, const OutputBlocks& outputs,
                                       const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(check_blocks(inputs.count(), size()));
  MILLRACE_RETURN_IF_ERROR(check_blocks(outputs.count(), size()));
  MILLRACE_RETURN_IF_ERROR(check_same_size(inputs.bytes_each(), outputs.bytes_each()));
  const std::lock_guard lock(mutex_);
  const size_t bytes = inputs.bytes_each();
  std::byte* const held = scratch(size() * bytes);
  for (uint32_t r = 0; r < size(); ++r) {
    // The received block could overwrite the input block before that has been sent.
    const bool in_place = overlap(inputs[r], outputs[r]);
    if (in_place) copy(inputs[r], held + r * bytes);
    parts_[r] = {in_place ? std::span<const std::byte>(held + r * bytes, bytes) : inputs[r],
                 outputs[r]};
  }
  const std::span<const std::byte> own = parts_[rank()].send;
  MILLRACE_RETURN_IF_ERROR(
      exchange_once({.operation = Operation::kAllToAll, .bytes = bytes}, limit));
  copy(own, outputs[rank()].data());
  return {};
}

Status MessageCommunicator::permute(std::span<const std::byte> input, std::optional<uint32_t> to,
                                    std::span<std::byte> output, std::optional<uint32_t> from,
                                    const Limit& limit) {
  MILLRACE_RETURN_IF_ERROR(check_same_size(input.size(), output.size()));
  MILLRACE_RETURN_IF_ERROR(to ? check_rank(*to, size()) : Status());
  MILLRACE_RETURN_IF_ERROR(from ? check_rank(*from, size()) : Status());
  if ((to == rank()) != (from == rank()))
    return invalid_argument("a rank that sends to itself must receive from itself, too");
  const std::lock_guard lock(mutex_);
  std::span<const std::byte> sent = input;
  if (overlap(input, output)) {  // received data could overwrite the input before it has been sent
    copy(input, scratch(input.size()));
    sent = {scratch_.data(), input.size()};
  }
  for (uint32_t r = 0; r < size(); ++r) {
    parts_[r] = {};
    if (to == r) parts_[r].send = sent;
    if (from == r) parts_[r].receive = output;
  }
  std::string name;
  if (hooks_observed())
    name = fmt::format("permute{}{}", to ? fmt::format(" to {}", number_of(*to)) : "",
                       from ? fmt::format(" from {}", number_of(*from)) : "");
  MILLRACE_RETURN_IF_ERROR(
      exchange_once({.operation = Operation::kPermute, .bytes = input.size()}, limit, name));
  if (from == rank()) copy(sent, output.data());
  return {};
}

Status MessageCommunicator::barrier(const Limit& limit) {
  const std::lock_guard lock(mutex_);
  std::ranges::fill(parts_, Part{});
  return exchange_once({.operation = Operation::kBarrier}, limit);
}

void MessageCommunicator::abandon(const Status& cause) noexcept {
  channel_->link().fail(cause);
}

void MessageCommunicator::leave(std::chrono::nanoseconds patience) {
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::ceil<Deadline::duration>(patience);
  const std::lock_guard lock(mutex_);
  std::ranges::fill(parts_, Part{});
  const Status left =
      exchange_once({.operation = Operation::kLeave}, {.deadline = deadline, .stop = nullptr});
  if (!left.ok()) log(LogLevel::kDebug, "ranks", left.message());
}

}  // namespace millrace::ranks
