#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sage {

/// The first and the last bytes of a text of any length, in memory of three times `each`.
class KeptOutput {
 public:
  explicit KeptOutput(std::size_t each) : each_(each) {}

  void add(std::string_view bytes) {
    total_ += bytes.size();
    const std::size_t to_head = std::min(bytes.size(), each_ - head_.size());
    head_.append(bytes.substr(0, to_head));
    bytes.remove_prefix(to_head);
    if (bytes.size() > each_) bytes.remove_prefix(bytes.size() - each_);
    tail_.append(bytes);
    if (tail_.size() > 2 * each_) tail_.erase(0, tail_.size() - each_);
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }

  /// The whole, or both ends with a line between that says how many bytes are missing.
  [[nodiscard]] std::string text() const {
    const std::string_view all(tail_);
    const std::string_view tail = all.substr(all.size() - std::min(all.size(), each_));
    const std::uint64_t missing = total_ - head_.size() - tail.size();
    if (missing == 0) return head_ + std::string(tail);
    return head_ + "\n[... " + std::to_string(missing) + " bytes left out ...]\n" + std::string(tail);
  }

 private:
  std::size_t each_;
  std::string head_;
  std::string tail_;
  std::uint64_t total_ = 0;
};

}  // namespace sage
