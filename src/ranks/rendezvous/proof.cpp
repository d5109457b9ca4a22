#include "ranks/rendezvous/proof.h"

#include <sodium.h>
#include <sys/random.h>

#include <cerrno>

namespace millrace::ranks {
namespace {

static_assert(sizeof(Proof) == crypto_generichash_BYTES);

// Returns the bytes in the type that libsodium takes.
const unsigned char* bytes_of(const std::byte* bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes);
}
unsigned char* bytes_of(std::byte* bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes);
}

template <class Value>
std::span<const std::byte> memory_of(const Value& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

Result<Nonce> make_nonce() {
  Nonce nonce;
  if (getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size()))
    return io_error("getrandom", errno);
  return nonce;
}

Secret Secret::of_text(std::string_view text) noexcept {
  Secret secret;
  crypto_generichash(bytes_of(secret.key_.data()), secret.key_.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return secret;
}

Secret Secret::of_session(const SessionKey& key) const noexcept {
  Secret secret;
  secret.key_ = prove("session", {key});
  return secret;
}

// Hashes the name of the use, with its terminating zero byte, and the parts, which have fixed
// sizes. So no two uses hash the same bytes (domain separation).
Proof Secret::prove(std::string_view what, std::initializer_list<Bytes> parts) const noexcept {
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes_of(key_.data()), key_.size(), sizeof(Proof));
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(what.data()),
                            what.size() + 1);
  for (const Bytes part : parts)
    crypto_generichash_update(&state, bytes_of(part.data()), part.size());
  Proof proof;
  crypto_generichash_final(&state, bytes_of(proof.data()), proof.size());
  return proof;
}

Proof Secret::of_joining(const Nonce& asked, const JoinHead& head) const noexcept {
  return prove("join", {asked, head.nonce, memory_of(head.rank), memory_of(head.ranks)});
}

Proof Secret::of_hosting(const Nonce& asked, const JoinHead& head,
                         const SessionKey& session) const noexcept {
  return prove("host", {asked, head.nonce, memory_of(head.rank), memory_of(head.ranks), session});
}

Proof Secret::of_linking(const Nonce& asked, const LinkHead& head) const noexcept {
  return prove("link", {asked, head.nonce, memory_of(head.from), memory_of(head.to)});
}

Proof Secret::of_accepting(const Nonce& asked, const LinkHead& head) const noexcept {
  return prove("accept", {asked, head.nonce, memory_of(head.from), memory_of(head.to)});
}

bool is_equal(const Proof& a, const Proof& b) noexcept {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace millrace::ranks
