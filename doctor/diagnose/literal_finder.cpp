#include "doctor/diagnose/literal_finder.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
LiteralFinder::LiteralFinder(const std::vector<std::string>& literals) : last_round_(literals.size(), 0) {
  for (const std::string& literal : literals) {
    longest_ = std::max(longest_, literal.size());
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

  // In the same order, so that the states near the root, where most time is spent, lie together in the caches; but
  // those that end a literal behind all others, so that one comparison tells them apart.
  std::stable_partition(order.begin(), order.end(), [&](std::uint32_t state) { return found_in_[state].empty(); });
  std::vector<std::uint32_t> place(edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::uint32_t>(i * classes_);
  next_.reserve(edges.size() * classes_);
  std::vector<std::vector<int>> found_in_place;
  for (const std::uint32_t state : order) {
    if (found_in_[state].empty()) first_end_ = place[state] + 1;
    for (const std::uint32_t to : edges[state]) next_.push_back(place[to]);
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
  const std::size_t part = text.size() / lanes;
  if (part <= longest_) {
    walk(text, 0);
  } else {
    walk_in_parts(text, part);
  }
  return found_;
}

void LiteralFinder::walk(std::string_view text, std::uint32_t at) {
  for (const char c : text) {
    at = next(at, c);
    if (at >= first_end_) take(at);
  }
}

/// Each step waits for the memory read of the one before, so several walks at a time take as long as one. A walk goes
/// on into the next part as far as a literal can reach that began in its own.
void LiteralFinder::walk_in_parts(std::string_view text, std::size_t part) {
  const std::size_t steps = std::min(part + longest_ - 1, text.size() - (lanes - 1) * part);
  std::array<std::uint32_t, lanes> at{};
  for (std::size_t i = 0; i < steps; ++i) {
    for (std::size_t lane = 0; lane < lanes; ++lane) at[lane] = next(at[lane], text[lane * part + i]);
    if (std::max(std::max(at[0], at[1]), std::max(at[2], at[3])) < first_end_) continue;
    for (const std::uint32_t state : at) {
      if (state >= first_end_) take(state);
    }
  }
  for (std::size_t lane = 0; lane + 1 < lanes; ++lane)
    walk(text.substr(lane * part + steps, part + longest_ - 1 - steps), at[lane]);
  walk(text.substr((lanes - 1) * part + steps), at[lanes - 1]);
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
