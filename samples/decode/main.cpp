// Generates tokens with a decoder, several sequences in flight, and prints them with the time to
// the first token and the tokens per second.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "samples/decode/sampling.hpp"
#include "samples/decode/sequence.hpp"

namespace {

using millrace::decoder::Decoder;
using millrace::decoder::Sequence;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string archive, device = "cpu";
  std::vector<int64_t> prompt = {1, 2, 3, 4, 5, 6, 7, 8};
  size_t tokens = 32, sequences = 1;
  float top_p = 0, temperature = 1;  // top_p 0: the most likely token
  uint32_t seed = 1;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A sequence with the unit that its jobs queue in, so that those of several sequences overtake each
// other.
struct Stream {
  millrace::Unit unit;
  Sequence sequence;
  std::mt19937 random;
  size_t made = 0;
};

int64_t next_token(Stream& stream, const Arguments& arguments) {
  const auto logits = stream.sequence.logits();
  if (arguments.top_p == 0) return millrace::decoder::most_likely(logits);
  return millrace::decoder::draw(logits, arguments.top_p, arguments.temperature, stream.random);
}

std::vector<Stream> make_streams(millrace::Device& device, const Decoder& decoder,
                                 const Arguments& arguments) {
  std::vector<Stream> streams;
  for (size_t i = 0; i < arguments.sequences; ++i) {
    std::vector<int64_t> prompt = arguments.prompt;
    // Sequences of one prompt would have equal tokens.
    prompt.back() =
        (prompt.back() + static_cast<int64_t>(i)) % static_cast<int64_t>(decoder.vocabulary());
    streams.push_back({millrace::decoder::take(device.create_unit({.depth = 1})),
                       Sequence(decoder, prompt),
                       std::mt19937(arguments.seed + static_cast<uint32_t>(i))});
  }
  return streams;
}

// Waits for the job of a stream and takes its token. Returns whether the stream goes on; then its
// next job has been submitted.
bool advance(Stream& stream, const Arguments& arguments) {
  stream.sequence.wait();
  if (stream.sequence.is_read()) {
    stream.sequence.append(next_token(stream, arguments));
    if (++stream.made == arguments.tokens || stream.sequence.is_full()) return false;
  }
  stream.sequence.submit(stream.unit);
  return true;
}

void generate(std::vector<Stream>& streams, const Arguments& arguments) {
  const Clock::time_point start = Clock::now();
  double first = 0;
  for (Stream& stream : streams) stream.sequence.submit(stream.unit);
  std::vector<Stream*> active;
  for (Stream& stream : streams) active.push_back(&stream);
  size_t made = 0;
  while (!active.empty()) {
    std::erase_if(active, [&](Stream* stream) { return !advance(*stream, arguments); });
    if (first == 0 && streams.front().made > 0) first = seconds_since(start);
  }
  for (const Stream& stream : streams) made += stream.made;
  const double all = seconds_since(start);
  for (const Stream& stream : streams) {
    std::printf("tokens       ");
    const auto& tokens = stream.sequence.tokens();
    for (size_t i = tokens.size() - stream.made; i < tokens.size(); ++i)
      std::printf(" %lld", static_cast<long long>(tokens[i]));
    std::printf("\n");
  }
  std::printf("first token   %.2f ms\n", 1e3 * first);
  std::printf("tokens/s      %.1f\n", static_cast<double>(made - streams.size()) / (all - first));
}

int run(int argc, char** argv) {
  CLI::App app("Generates tokens with a decoder that make_decoder wrote.", "decode");
  Arguments arguments;
  app.add_option("archive", arguments.archive, "the compiled decoder")->required();
  app.add_option("--prompt", arguments.prompt, "the tokens to begin with")->delimiter(',');
  app.add_option("--tokens", arguments.tokens, "number of tokens of each sequence")
      ->check(CLI::PositiveNumber);
  app.add_option("--sequences", arguments.sequences, "number of sequences in flight")
      ->check(CLI::PositiveNumber);
  app.add_option("--top-p", arguments.top_p, "draw from the most likely tokens of this probability")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--temperature", arguments.temperature, "divides the logits before a draw")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", arguments.seed, "seed of the draws");
  app.add_option("--device", arguments.device, "name of the device");
  CLI11_PARSE(app, argc, argv);
  millrace::Device device = millrace::decoder::take(millrace::Device::open(arguments.device));
  const Decoder decoder(device, arguments.archive);
  for (const int64_t token : arguments.prompt)
    if (token < 0 || token >= static_cast<int64_t>(decoder.vocabulary()))
      throw std::invalid_argument("a token of the prompt is not in the vocabulary");
  if (arguments.prompt.empty() || arguments.prompt.size() >= decoder.context())
    throw std::invalid_argument("the prompt must be shorter than the context of the decoder");
  std::vector<Stream> streams = make_streams(device, decoder, arguments);
  generate(streams, arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "decode: %s\n", error.what());
  return 1;
}
