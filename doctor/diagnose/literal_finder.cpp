#include "doctor/diagnose/literal_finder.hpp"

#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

/// Set in an entry whose state ends a literal, so that the loop looks nothing up for the others.
constexpr std::uint32_t ends_literal = 1u << 31;

}  // namespace

LiteralFinder::LiteralFinder(const std::vector<std::string>& literals) : last_round_(literals.size(), 0) {
  for (const std::string& literal : literals) {
    for (const char c : literal) {
      std::uint8_t& number = class_of_[static_cast<unsigned char>(c)];
      if (number == 0) number = static_cast<std::uint8_t>(classes_++);
    }
  }
  for (unsigned c = 'a'; c <= 'z'; ++c) class_of_[c - 'a' + 'A'] = class_of_[c];

  // The tree of all literals; 0 is no edge, since nothing leads back to the root.
  std::vector<std::vector<std::uint32_t>> edges(1, std::vector<std::uint32_t>(classes_, 0));
  found_in_.resize(1);
  for (std::size_t i = 0; i < literals.size(); ++i) {
    std::size_t state = 0;
    for (const char c : literals[i]) {
      const std::size_t byte_class = class_of_[static_cast<unsigned char>(c)];
      if (edges[state][byte_class] == 0) {
        edges[state][byte_class] = static_cast<std::uint32_t>(edges.size());
        edges.emplace_back(classes_, 0);
        found_in_.emplace_back();
      }
      state = edges[state][byte_class];
    }
    found_in_[state].push_back(static_cast<int>(i));
  }

  // Breadth first: where an edge is missing, go where the longest proper suffix would go.
  std::vector<std::uint32_t> suffix(edges.size(), 0);
  std::vector<std::uint32_t> order = {0};
  for (std::size_t done = 0; done < order.size(); ++done) {
    const std::uint32_t state = order[done];
    for (std::size_t c = 0; c < classes_; ++c) {
      std::uint32_t& edge = edges[state][c];
      const std::uint32_t fallback = state == 0 ? 0 : edges[suffix[state]][c];
      if (edge == 0) {
        edge = fallback;
        continue;
      }
      suffix[edge] = fallback;
      const std::vector<int>& shorter = found_in_[fallback];
      found_in_[edge].insert(found_in_[edge].end(), shorter.begin(), shorter.end());
      order.push_back(edge);
    }
  }

  // In the same order, so that the states near the root, where most time is spent, lie together in the caches.
  std::vector<std::uint32_t> place(edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::uint32_t>(i * classes_);
  next_.reserve(edges.size() * classes_);
  std::vector<std::vector<int>> found_in_place;
  for (const std::uint32_t state : order) {
    for (const std::uint32_t to : edges[state]) next_.push_back(place[to] | (found_in_[to].empty() ? 0 : ends_literal));
    found_in_place.push_back(found_in_[state]);
  }
  found_in_ = std::move(found_in_place);
}

const std::vector<int>& LiteralFinder::find(std::string_view text) {
  found_.clear();
  if (++round_ == 0) {
    last_round_.assign(last_round_.size(), 0);
    round_ = 1;
  }
  std::uint32_t at = 0;
  for (const char c : text) {
    const std::uint32_t entry = next_[at + class_of_[static_cast<unsigned char>(c)]];
    at = entry & ~ends_literal;
    if ((entry & ends_literal) != 0) take(at);
  }
  return found_;
}

void LiteralFinder::take(std::uint32_t state) {
  for (const int literal : found_in_[state / classes_]) {
    std::uint32_t& last = last_round_[static_cast<std::size_t>(literal)];
    if (last == round_) continue;
    last = round_;
    found_.push_back(literal);
  }
}

}  // namespace sage
