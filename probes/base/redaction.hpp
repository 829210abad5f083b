#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// Personal names that are known beforehand. Empty ones are not looked for.
struct KnownNames {
  std::string user;
  std::string host;
  std::string home;
};

/// Replaces personal data in text by stand-ins that stay the same throughout a capture or report:
///   user names     user1, user2 ... as whole words, and in /home/NAME, /mnt/c/Users/NAME, C:\Users\NAME
///   host names     host1, as whole words
///   home folders   /home/user1
///   GPU serials    GPU-7a... of ROCR_VISIBLE_DEVICES, unique_id and hive_id of KFD: other digits, the same wherever
///   the
///                  originals are the same from the start on, so that a shortened UUID still names the same GPU
///   addresses      192.0.2.1, 2001:db8::1, 02:00:00:00:00:01 (ranges reserved for documentation)
///   container ids  of 64 hex digits: container1
///   secrets        what follows words like token or password, and well-known forms of keys: REDACTED
/// Ordinary words ("ubuntu", "max") and names of one or two letters are replaced in paths only, where they are surely
/// names. Below /sys, /proc and /dev names are left alone: files there are called memory.max.
///
/// First learn() everything that will be written, then apply(): a stand-in can depend on all that was learned. Applying
/// twice changes nothing more. What apply() meets and was not learned gets the number 0.
class Redaction {
 public:
  /// Changes nothing: for --no-redact.
  Redaction() = default;
  explicit Redaction(const KnownNames& names);

  /// Takes up what has the shape of personal data.
  void learn(std::string_view text);
  /// A person's name by the place where it stood: an entry of /home or C:\Users.
  void learn_user(std::string_view name);
  /// Up to 16 hex digits, as in the sysfs file unique_id.
  void learn_gpu_serial(std::string_view digits);

  [[nodiscard]] std::string apply(std::string_view text) const;

  /// Of a text that is nothing but a user's name ("ubuntu" too, but not "root").
  [[nodiscard]] std::string apply_to_user(std::string_view name) const;
  /// Of a text that is nothing but a host's name.
  [[nodiscard]] std::string apply_to_host(std::string_view name) const;

 private:
  friend class RedactionScan;

  /// Each list in the order of learning; the number of a stand-in is the place in its list.
  struct Learned {
    std::vector<std::string> users;        ///< lower case, like hosts
    std::vector<std::string> hosts;        ///< the one host, with and without its domain
    std::vector<std::string> gpu_serials;  ///< hex digits in lower case, shortened ones too
    std::vector<std::string> ipv4;
    std::vector<std::string> ipv6;
    std::vector<std::string> hardware_addresses;
    std::vector<std::string> containers;
  };

  bool active_ = false;
  std::string home_;  ///< empty when it is no folder of a person
  Learned learned_;
};

}  // namespace sage
