// The fuzz targets without a fuzzer: seeds of the corpus, changed by a fixed random sequence. Runs with every compiler,
// takes the same path every time. Usage: test_mutations CORPUS [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "entries.hpp"

namespace {

using Buffer = std::vector<std::byte>;

struct Target {
  const char* name;
  void (*feed)(sage::code_object::ByteSpan);
};

constexpr Target targets[] = {
    {"code_object", sage::fuzz::feed_code_object},
    {"metadata", sage::fuzz::feed_metadata},
    {"bundle", sage::fuzz::feed_bundle},
    {"compressed", sage::fuzz::feed_compressed},
    {"cubin", sage::fuzz::feed_cubin},
    {"names", sage::fuzz::feed_names},
};

std::vector<Buffer> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Buffer> seeds;
  for (const auto& path : paths) {
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    const auto bytes = sage::code_object::as_bytes(text);
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}

// std::mt19937's sequence is fixed by the standard; its distributions are not, so they are not used.
class Mutator {
 public:
  Buffer operator()(const Buffer& seed, const Buffer& other) {
    Buffer bytes = seed;
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) change(bytes, other);
    return Buffer(bytes.begin(), bytes.end());  // no spare capacity behind the end
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(Buffer& bytes, const Buffer& other) {
    constexpr std::uint64_t interesting[] = {0,
                                             1,
                                             7,
                                             0x7f,
                                             0x80,
                                             0xff,
                                             0x7fff,
                                             0xffff,
                                             0x7fffffff,
                                             0x80000000,
                                             0xffffffff,
                                             0x100000000,
                                             0x7fffffffffffffff,
                                             0x8000000000000000,
                                             ~std::uint64_t{0},
                                             ~std::uint64_t{0} - 63};
    const std::size_t at = below(bytes.size());
    switch (below(7)) {
      case 0:
        bytes[at] = static_cast<std::byte>(random_());
        break;
      case 1:
        bytes[at] ^= static_cast<std::byte>(1U << below(8));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3: {
        const std::uint64_t value = interesting[below(std::size(interesting))];
        const std::size_t width = std::size_t{1} << below(4);
        for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
          bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
        break;
      }
      case 4:
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), at + 1 + below(16))));
        break;
      case 5: {
        const std::size_t from = below(bytes.size());
        const std::size_t length = std::min({below(64), bytes.size() - from, bytes.size() - at});
        const Buffer part(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                          bytes.begin() + static_cast<std::ptrdiff_t>(from + length));
        std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      default:
        bytes.insert(bytes.end(), other.begin(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)));
    }
  }

  std::mt19937 random_{20240607};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3000;
  Mutator mutate;
  for (const Target& target : targets) {
    const std::vector<Buffer> seeds = read_seeds(std::filesystem::path{argv[1]} / target.name);
    if (seeds.empty()) {
      std::printf("no seeds for %s\n", target.name);
      return 1;
    }
    for (const Buffer& seed : seeds) target.feed(seed);
    for (int round = 0; round < rounds; ++round) {
      const auto pick = static_cast<std::size_t>(round);
      target.feed(mutate(seeds[pick % seeds.size()], seeds[(pick / seeds.size()) % seeds.size()]));
    }
    std::printf("%s: %zu seeds, %d mutations\n", target.name, seeds.size(), rounds);
  }
  return 0;
}
