#include "disassembly.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sage::model {
namespace {

std::optional<std::uint64_t> hex_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (result.ec != std::errc{} || result.ptr == text.data()) return std::nullopt;
  return value;
}

bool is_matrix(std::string_view mnemonic) {
  return mnemonic.starts_with("v_wmma") || mnemonic.starts_with("v_mfma");
}

void add(MatrixCount& counts, std::string_view mnemonic) {
  if (!is_matrix(mnemonic)) return;
  if (mnemonic.find("fp8") != std::string_view::npos) {
    ++counts.fp8;
  } else if (mnemonic.find("_i32_") != std::string_view::npos) {
    ++counts.int8;
  } else {
    ++counts.f16;
  }
}

bool is_wait(std::string_view m) {
  return m.starts_with("s_wait") || m.starts_with("s_nop") || m.starts_with("s_delay_alu");
}

using Iterator = std::vector<Instruction>::const_iterator;

Iterator at_address(const std::vector<Instruction>& function, std::int64_t address) {
  return std::lower_bound(function.begin(), function.end(), static_cast<std::uint64_t>(address),
                          [](const Instruction& i, std::uint64_t a) { return i.address < a; });
}

int matrices(Iterator first, Iterator last) {
  return static_cast<int>(std::count_if(first, last, [](const Instruction& i) { return is_matrix(i.mnemonic); }));
}

// What one way through the loop runs.
struct Way {
  bool reached = false;
  int matrices = 0;
  int exponentials = 0;
  int slots = 0;
  int waits = 0;
};

struct Block {
  Way own;
  std::vector<std::size_t> next;  // blocks further down
  bool closes = false;            // jumps back to the loop's start
};

Way joined(const Way& way, const Way& block) {
  return {true, way.matrices + block.matrices, way.exponentials + block.exponentials, way.slots + block.slots,
          way.waits + block.waits};
}

bool better(const Way& a, const Way& b, bool all_exponentials) {
  if (!a.reached || !b.reached) return a.reached;
  if (a.matrices != b.matrices) return a.matrices > b.matrices;
  if (all_exponentials && a.exponentials != b.exponentials) return a.exponentials > b.exponentials;
  return a.slots < b.slots;
}

bool is_branch(const Instruction& i) {
  return i.mnemonic.find("branch") != std::string::npos;
}

// Cuts [first, last) at branches and their targets. Jumps backward other than to the loop's start are ignored: the
// kernels have no inner loops that are left standing.
std::vector<Block> split(const std::vector<Instruction>& function, Iterator first, Iterator last) {
  std::vector<Iterator> leaders{first};
  for (Iterator i = first; i != last; ++i) {
    if (!is_branch(*i)) continue;
    leaders.push_back(i + 1);
    const Iterator target = at_address(function, i->target);
    if (i->target >= 0 && target > first && target < last) leaders.push_back(target);
  }
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  if (leaders.back() == last) leaders.pop_back();

  std::vector<Block> blocks(leaders.size());
  for (std::size_t b = 0; b < leaders.size(); ++b) {
    Block& block = blocks[b];
    const Iterator end = b + 1 < leaders.size() ? leaders[b + 1] : last;
    block.own.reached = true;
    for (Iterator i = leaders[b]; i != end; ++i) {
      ++block.own.slots;
      if (is_matrix(i->mnemonic)) ++block.own.matrices;
      if (i->mnemonic.starts_with("v_exp")) ++block.own.exponentials;
      if (is_wait(i->mnemonic)) ++block.own.waits;
    }
    const Instruction& tail = *(end - 1);
    const bool falls_through = !tail.mnemonic.starts_with("s_branch") && !tail.mnemonic.starts_with("s_endpgm");
    if (falls_through && b + 1 < leaders.size()) block.next.push_back(b + 1);
    if (!is_branch(tail) || tail.target < 0) continue;
    block.closes = tail.target == static_cast<std::int64_t>(first->address);
    const auto target = std::lower_bound(leaders.begin(), leaders.end(), at_address(function, tail.target));
    if (tail.target > static_cast<std::int64_t>(tail.address) && target != leaders.end())
      block.next.push_back(static_cast<std::size_t>(target - leaders.begin()));
  }
  return blocks;
}

Way best_way(const std::vector<Block>& blocks, bool all_exponentials) {
  std::vector<Way> before(blocks.size());
  before[0].reached = true;
  Way best;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!before[b].reached) continue;
    const Way here = joined(before[b], blocks[b].own);
    if (blocks[b].closes && better(here, best, all_exponentials)) best = here;
    for (const std::size_t n : blocks[b].next) {
      if (better(here, before[n], all_exponentials)) before[n] = here;
    }
  }
  return best;
}

}  // namespace

Functions parse_listing(std::string_view listing) {
  Functions functions;
  std::vector<Instruction>* current = nullptr;
  std::uint64_t base = 0;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\n'), listing.size());
    const std::string_view line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));

    // "0000000000001700 <name>:"
    if (line.ends_with(">:")) {
      const std::size_t open = line.find(" <");
      const auto address = hex_number(line);
      if (open == std::string_view::npos || !address) continue;
      current = &functions[std::string{line.substr(open + 2, line.size() - open - 4)}];
      base = *address;
      continue;
    }
    // "\tv_add_f32 v0, v1, v2      // 000000001704: 06000501 [<name+0x50>]"
    const std::size_t comment = line.find("// ");
    if (current == nullptr || comment == std::string_view::npos || line.empty() || line[0] != '\t') continue;
    const auto address = hex_number(line.substr(comment + 3));
    if (!address) continue;
    const std::string_view text = line.substr(1);
    Instruction instruction{*address, std::string{text.substr(0, text.find_first_of(" \t"))}, -1};
    const std::size_t offset = line.rfind("+0x");
    if (line.ends_with('>') && instruction.mnemonic.find("branch") != std::string::npos) {
      const auto distance =
          offset == std::string_view::npos ? std::optional<std::uint64_t>{0} : hex_number(line.substr(offset + 3));
      if (distance) instruction.target = static_cast<std::int64_t>(base + *distance);
    }
    current->push_back(std::move(instruction));
  }
  return functions;
}

LoopCount count(const std::vector<Instruction>& function) {
  LoopCount result;
  for (const Instruction& i : function) add(result.whole_kernel, i.mnemonic);

  Iterator first = function.end();
  Iterator last = function.end();
  int most = 0;
  for (auto i = function.begin(); i != function.end(); ++i) {
    if (i->target < 0 || i->target > static_cast<std::int64_t>(i->address)) continue;
    const Iterator start = at_address(function, i->target);
    const int inside = matrices(start, i + 1);
    if (inside == 0 || inside < most || (inside == most && i + 1 - start >= last - first)) continue;
    most = inside;
    first = start;
    last = i + 1;
  }

  if (most == 0) return result;
  const std::vector<Block> blocks = split(function, first, last);
  const Way hot = best_way(blocks, false);
  const Way with_rescale = best_way(blocks, true);
  for (Iterator i = first; i != last; ++i) add(result.matrix, i->mnemonic);
  result.hot = hot.slots;
  result.waits = hot.waits;
  result.rescale = with_rescale.slots - hot.slots;
  result.rare = static_cast<int>(last - first) - with_rescale.slots;
  return result;
}

}  // namespace sage::model
