// One scan from left to right serves both learning and replacing. At each position a few matchers are tried; the first
// that recognises something says how long it is, what kind it is, and what stands for it, and the scan goes on behind
// it. Since replaced text is never scanned again, applying twice is harmless as long as no stand-in looks like
// something to replace: addresses come from the ranges that are reserved for documentation, and user1, host1 and
// container1 are recognised as what they are.
//
// The hard part is not to find names but to leave alone what only looks like them. A user may be called "max", and
// KFD's files are full of "max"; the driver's version 32.0.31041.1004 is no IP address, a PCI address no MAC address.

#include "probes/base/redaction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t shortest_name = 3;
constexpr std::size_t serial_digits = 16;
constexpr std::size_t container_digits = 64;
constexpr std::size_t shortest_key = 16;
constexpr std::string_view removed = "REDACTED";

/// Names of accounts and machines that say nothing about a person, and words that would tear up other texts.
constexpr auto ordinary_words = std::to_array<std::string_view>({
    "admin",   "amd",     "amdgpu",    "arch",   "archlinux", "art",     "bash",      "bin",     "build",   "bus",
    "card",    "centos",  "chip",      "ci",     "cloud",     "conda",   "container", "cpu",     "cuda",    "data",
    "debian",  "default", "dev",       "device", "docker",    "drive",   "driver",    "dxg",     "etc",     "fedora",
    "file",    "gpu",     "grant",     "guest",  "hip",       "home",    "host",      "hsa",     "jenkins", "kfd",
    "kernel",  "lib",     "linux",     "local",  "localhost", "mark",    "max",       "mem",     "min",     "mint",
    "mnt",     "model",   "module",    "name",   "node",      "nobody",  "none",      "opt",     "path",    "pci",
    "proc",    "process", "public",    "python", "ray",       "render",  "rocm",      "root",    "run",     "runner",
    "server",  "shell",   "src",       "sudo",   "sys",       "system",  "test",      "tester",  "tmp",     "torch",
    "ubuntu",  "unknown", "user",      "users",  "usr",       "vagrant", "var",       "version", "video",   "will",
    "windows", "work",    "workspace", "wsl",
});

/// Folders beside those of the users.
constexpr auto folders_of_all = std::to_array<std::string_view>({"public", "default", "all users", "default user"});

constexpr auto secret_words = std::to_array<std::string_view>({
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "private_key",
    "key",
    "bearer",
    "credential",
});

constexpr auto key_prefixes = std::to_array<std::string_view>({
    "hf_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "eyJ",
    "pypi-",
});

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_slash(char c) {
  return c == '/' || c == '\\';
}
/// Part of a token or key.
bool is_key_letter(char c) {
  return is_letter(c) || is_digit(c) || contains("+/_=.-", std::string_view(&c, 1));
}

template <std::size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// "user7" for "user": what this file itself puts in.
bool is_stand_in(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(), is_digit);
}

bool is_replaceable_name(std::string_view lowered) {
  return !lowered.empty() && lowered != "root" && !is_one_of(lowered, folders_of_all) &&
         !is_stand_in(lowered, "user") && !is_stand_in(lowered, "host");
}

/// True when the name may be replaced wherever it stands as a word.
bool is_telling(std::string_view lowered) {
  return is_replaceable_name(lowered) && lowered.size() >= shortest_name && !is_one_of(lowered, ordinary_words) &&
         !std::all_of(lowered.begin(), lowered.end(), is_digit);
}

void learn_once(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

/// Its place in the list, counted from 1; 0 when it is not there.
std::string number_in(const std::vector<std::string>& list, const std::string& text) {
  const auto place = std::find(list.begin(), list.end(), text);
  return std::to_string(place == list.end() ? 0 : place - list.begin() + 1);
}

template <class Predicate>
std::size_t run_length(std::string_view text, std::size_t at, Predicate predicate) {
  std::size_t end = at;
  while (end < text.size() && predicate(text[end])) ++end;
  return end - at;
}

// ---- serial numbers of GPUs

/// Digits for the digits of `serial`, chosen so that two serials have the same stand-in digits up to where they differ,
/// and no further. A first digit is one that no real serial begins with, as long as there are any: then no shortened
/// stand-in can be taken for a shortened serial.
class SerialDigits {
 public:
  explicit SerialDigits(const std::vector<std::string>& learned) : learned_(learned) {
    const std::string used = digits_after("");
    for (const char digit : std::string_view("123456789abcde0f")) {
      if (!contains(used, std::string_view(&digit, 1))) first_digits_ += digit;
    }
    first_digits_ += used;
  }

  [[nodiscard]] bool begins_one(std::string_view digits) const {
    return std::any_of(learned_.begin(), learned_.end(),
                       [&](const std::string& serial) { return serial.starts_with(digits); });
  }

  [[nodiscard]] bool begins_stand_in(std::string_view digits) const {
    return std::any_of(learned_.begin(), learned_.end(),
                       [&](const std::string& serial) { return stand_in(serial).starts_with(digits); });
  }

  [[nodiscard]] std::string stand_in(std::string_view serial) const {
    std::string result;
    for (std::size_t i = 0; i < serial.size(); ++i) {
      const std::size_t place = digits_after(serial.substr(0, i)).find(serial[i]);
      const std::string_view choice = i == 0 ? std::string_view(first_digits_) : "123456789abcde0f";
      result += place == std::string::npos ? 'f' : choice[place];
    }
    return result;
  }

 private:
  /// The digits that follow `start` in the learned serials, in the order of learning.
  [[nodiscard]] std::string digits_after(std::string_view start) const {
    std::string found;
    for (const std::string& serial : learned_) {
      if (serial.size() <= start.size() || !serial.starts_with(start)) continue;
      if (found.find(serial[start.size()]) == std::string::npos) found += serial[start.size()];
    }
    return found;
  }

  const std::vector<std::string>& learned_;
  std::string first_digits_;
};

}  // namespace

/// What a matcher found at a position.
struct RedactionMatch {
  std::size_t length = 0;
  std::string stand_in;
};

/// The matchers. With `learning` they take up what they find, and their stand-ins are not used.
class RedactionScan {
 public:
  using Learned = Redaction::Learned;
  using Match = std::optional<RedactionMatch>;

  RedactionScan(std::string_view text, const std::string& home, const Learned& known, Learned* learning)
      : text_(text), home_(home), known_(known), learning_(learning), serials_(known.gpu_serials) {}

  std::string run() {
    using Matcher = Match (RedactionScan::*)();
    static constexpr std::array<Matcher, 10> matchers = {
        &RedactionScan::key_form,    &RedactionScan::after_secret_word, &RedactionScan::url_password,
        &RedactionScan::home_folder, &RedactionScan::user_folder,       &RedactionScan::gpu_serial,
        &RedactionScan::hex_word,    &RedactionScan::hardware_address,  &RedactionScan::internet_address,
        &RedactionScan::name,
    };
    std::string result;
    while (at_ < text_.size()) {
      Match match;
      for (const Matcher matcher : matchers) {
        if ((match = (this->*matcher)())) break;
      }
      if (!match) {
        result += text_[at_++];
        continue;
      }
      result += match->stand_in;
      at_ += match->length;
    }
    return result;
  }

 private:
  [[nodiscard]] char before() const { return at_ == 0 ? '\0' : text_[at_ - 1]; }
  [[nodiscard]] char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] bool word_begins() const { return is_word(text_[at_]) && !is_word(before()); }

  [[nodiscard]] std::string lowered(std::size_t length) const { return to_lower(rest().substr(0, length)); }

  /// hf_..., ghp_... and other forms that announce themselves.
  Match key_form() {
    if (!word_begins()) return std::nullopt;
    for (const std::string_view prefix : key_prefixes) {
      if (!rest().starts_with(prefix)) continue;
      const std::size_t length = run_length(text_, at_, is_key_letter);
      if (length < prefix.size() + shortest_key || !has_digit(rest().substr(0, length))) continue;
      return RedactionMatch{length, std::string(removed)};
    }
    return std::nullopt;
  }

  /// password=..., "token": "...", Bearer ...; the value of a short or wordy text after "key" or "token" is left alone.
  Match after_secret_word() {
    if (is_word(text_[at_]) || is_slash(text_[at_])) return std::nullopt;
    std::size_t end = at_;
    while (end > 0 && (is_word(text_[end - 1]) || text_[end - 1] == '-')) --end;
    const std::string word = to_lower(text_.substr(end, at_ - end));
    const bool named = std::any_of(secret_words.begin(), secret_words.end(), [&](std::string_view secret) {
      return word == secret || (word.ends_with(secret) && !is_letter(word[word.size() - secret.size() - 1]));
    });
    if (!named) return std::nullopt;
    const std::size_t separators =
        run_length(text_, at_, [](char c) { return contains(" \t=:\"'", std::string_view(&c, 1)); });
    const std::size_t value = at_ + separators;
    const std::size_t length = run_length(text_, value, [](char c) {
      return static_cast<unsigned char>(c) > ' ' && !contains("\"',;", std::string_view(&c, 1));
    });
    const std::string_view secret = text_.substr(value, length);
    const std::string_view between = text_.substr(at_, separators);
    const bool assigned = contains(between, "=") || contains(between, ":") || word.starts_with('-');
    const bool of_password = contains(word, "pass") || contains(word, "secret");
    const bool opaque = length >= shortest_key && has_digit(secret) && !secret.starts_with('/') &&
                        std::all_of(secret.begin(), secret.end(), is_key_letter);
    if (length == 0 || secret == removed || !(opaque || (of_password && assigned))) return std::nullopt;
    return RedactionMatch{separators + length, std::string(between) + std::string(removed)};
  }

  /// https://user:password@host
  Match url_password() {
    if (!rest().starts_with("://")) return std::nullopt;
    const std::size_t length =
        run_length(text_, at_ + 3, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '/' && c != '"'; });
    const std::string_view authority = text_.substr(at_ + 3, length);
    const std::size_t sign = authority.rfind('@');
    if (sign == std::string_view::npos || !contains(authority.substr(0, sign), ":")) return std::nullopt;
    return RedactionMatch{3 + sign, "://" + std::string(removed)};
  }

  Match home_folder() {
    if (home_.empty() || !rest().starts_with(home_) || is_word(before())) return std::nullopt;
    const char after = at(at_ + home_.size());
    if (is_word(after) || after == '-' || after == '.') return std::nullopt;
    return RedactionMatch{home_.size(), "/home/user1"};
  }

  /// The name behind /home/, /Users/ or \Users\ (also "\\Users\\", as JSON writes it).
  Match user_folder() {
    if (!is_slash(before())) return std::nullopt;
    std::size_t end = at_;
    while (end > 0 && is_slash(text_[end - 1])) --end;
    const std::string_view head = text_.substr(0, end);
    const bool of_windows = ends_in_folder(head, "users");
    if (!of_windows && !head.ends_with("/home")) return std::nullopt;
    const std::size_t length = run_length(text_, at_, [&](char c) {
      if (is_slash(c) || static_cast<unsigned char>(c) < ' ' || contains("\"'`:;,<>|", std::string_view(&c, 1)))
        return false;
      return c != ' ' || of_windows;
    });
    const std::string name = folder_name(lowered(length), of_windows);
    if (!is_replaceable_name(name)) return std::nullopt;
    return user(name);
  }

  /// A Windows name may have blanks in it, but so has the sentence around a path that ends with it: a name with blanks
  /// counts only up to a slash that follows.
  [[nodiscard]] std::string folder_name(const std::string& run, bool of_windows) const {
    if (!of_windows || is_slash(at(at_ + run.size()))) return run;
    return run.substr(0, run.find(' '));
  }

  static bool ends_in_folder(std::string_view head, std::string_view lowered_name) {
    if (head.size() <= lowered_name.size()) return false;
    return to_lower(head.substr(head.size() - lowered_name.size())) == lowered_name &&
           is_slash(head[head.size() - lowered_name.size() - 1]);
  }

  Match user(const std::string& name) {
    if (learning_ != nullptr) learn_once(learning_->users, name);
    return RedactionMatch{name.size(), "user" + number_in(known_.users, name)};
  }

  /// GPU-<hex>, and the decimal numbers of KFD's properties.
  Match gpu_serial() {
    if (!word_begins()) return std::nullopt;
    if (rest().starts_with("GPU-")) {
      const std::size_t length = run_length(text_, at_ + 4, is_hex);
      if (length == 0 || length > serial_digits || is_word(at(at_ + 4 + length))) return std::nullopt;
      return RedactionMatch{4 + length, "GPU-" + serial(to_lower(text_.substr(at_ + 4, length)))};
    }
    for (const std::string_view key : {"unique_id ", "hive_id "}) {
      if (!rest().starts_with(key)) continue;
      const std::size_t length = run_length(text_, at_ + key.size(), is_digit);
      const auto number = parse_number(text_.substr(at_ + key.size(), length));
      if (!number || *number == 0) return std::nullopt;
      const auto replaced = parse_number(serial(hex(*number, serial_digits)), 16);
      return RedactionMatch{key.size() + length, std::string(key) + std::to_string(replaced.value_or(0))};
    }
    return std::nullopt;
  }

  std::string serial(const std::string& digits) {
    if (learning_ != nullptr) learn_once(learning_->gpu_serials, digits);
    const bool real = serials_.begins_one(digits);
    if (serials_.begins_stand_in(digits) && (!real || digits.size() == serial_digits)) return digits;
    return serials_.stand_in(digits);
  }

  /// A container's id, or a GPU's serial without its prefix.
  Match hex_word() {
    if (!is_hex(text_[at_]) || is_letter(before()) || is_digit(before())) return std::nullopt;
    const std::size_t length = run_length(text_, at_, is_hex);
    const char after = at(at_ + length);
    if (is_letter(after) || is_digit(after)) return std::nullopt;
    const std::string digits = lowered(length);
    if (length == container_digits) {
      if (learning_ != nullptr) learn_once(learning_->containers, digits);
      return RedactionMatch{length, "container" + number_in(known_.containers, digits)};
    }
    const bool whole_serial =
        length == serial_digits && serials_.begins_one(digits) && !serials_.begins_stand_in(digits);
    if (whole_serial) return RedactionMatch{length, serials_.stand_in(digits)};
    return std::nullopt;
  }

  Match hardware_address() {
    constexpr std::size_t length = 17;
    if (!is_hex(text_[at_]) || is_hex(before()) || before() == ':' || before() == '-') return std::nullopt;
    if (rest().size() < length) return std::nullopt;
    const char separator = at(at_ + 2);
    if (separator != ':' && separator != '-') return std::nullopt;
    for (std::size_t i = 0; i < length; ++i) {
      const char c = text_[at_ + i];
      if (i % 3 == 2 ? c != separator : !is_hex(c)) return std::nullopt;
    }
    const char after = at(at_ + length);
    if (is_hex(after) || after == ':' || after == '-') return std::nullopt;
    const std::string address = lowered(length);
    if (address.starts_with("02:00:00:00:00:") || address == "00:00:00:00:00:00") return std::nullopt;
    if (learning_ != nullptr) learn_once(learning_->hardware_addresses, address);
    const std::uint64_t number = *parse_number(number_in(known_.hardware_addresses, address));
    return RedactionMatch{length, "02:00:00:00:00:" + hex(std::min<std::uint64_t>(number, 0xff), 2)};
  }

  Match internet_address() {
    if (is_word(before()) || before() == '.') return std::nullopt;
    if (Match match = ipv4_address()) return match;
    return before() == ':' ? std::nullopt : ipv6_address();
  }

  Match ipv4_address() {
    const std::size_t length = run_length(text_, at_, [](char c) { return is_digit(c) || c == '.'; });
    const std::string address(rest().substr(0, length));
    const std::vector<std::string_view> parts = split(address, '.');
    if (parts.size() != 4 || is_word(at(at_ + length)) || at(at_ + length) == '-' || before() == '-')
      return std::nullopt;
    std::array<std::uint64_t, 4> octets{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto octet = parse_number(parts[i]);
      if (!octet || *octet > 255 || (parts[i].size() > 1 && parts[i][0] == '0')) return std::nullopt;
      octets[i] = *octet;
    }
    const bool nobody = octets[0] == 127 || octets[0] == 0 || (octets[0] == 192 && octets[1] == 0 && octets[2] == 2) ||
                        octets[0] == 255;
    if (nobody || !is_address_not_version(octets, at_ + length)) return std::nullopt;
    if (learning_ != nullptr) learn_once(learning_->ipv4, address);
    const std::uint64_t number = *parse_number(number_in(known_.ipv4, address));
    return RedactionMatch{length, "192.0.2." + std::to_string(std::min<std::uint64_t>(number, 254))};
  }

  /// Four numbers may be a version. Versions begin with small numbers; an address with one is told by what stands
  /// around it, or by the ranges of private networks.
  [[nodiscard]] bool is_address_not_version(const std::array<std::uint64_t, 4>& octets, std::size_t end) const {
    const std::string head = to_lower(text_.substr(at_ > 16 ? at_ - 16 : 0, std::min<std::size_t>(at_, 16)));
    if (contains(head, "version") || contains(head, "driver") || contains(head, "rocm")) return false;
    if (octets[0] == 10 || octets[0] >= 64) return true;
    if (at(end) == ':' || at(end) == '/' || before() == '@' || before() == '/') return true;
    return contains(head, "addr") || contains(head, "host") || contains(head, "inet") || contains(head, "ip ") ||
           contains(head, "ip=") || contains(head, "server");
  }

  /// Global and local unicast only: 2xxx, 3xxx, fc, fd, fe80.
  Match ipv6_address() {
    const std::size_t length = run_length(text_, at_, [](char c) { return is_hex(c) || c == ':'; });
    const std::string address = lowered(length);
    if (is_word(at(at_ + length)) || address.ends_with(':') || address.size() < 6) return std::nullopt;
    const std::vector<std::string_view> groups = split(address, ':');
    const bool shortened = contains(address, "::");
    if (groups.size() < 3 || groups.size() > 8 || (!shortened && groups.size() != 8)) return std::nullopt;
    if (std::any_of(groups.begin(), groups.end(), [](std::string_view group) { return group.size() > 4; }))
      return std::nullopt;
    const std::string_view first = groups[0];
    const bool unicast = first.size() == 4 && (first[0] == '2' || first[0] == '3' || first.starts_with("fc") ||
                                               first.starts_with("fd") || first.starts_with("fe8"));
    if (!unicast || address.starts_with("2001:db8:")) return std::nullopt;
    if (learning_ != nullptr) learn_once(learning_->ipv6, address);
    return RedactionMatch{length, "2001:db8::" + number_in(known_.ipv6, address)};
  }

  /// A user's or host's name as a whole word. An underscore joins words only for names that are short enough to be
  /// part of an identifier.
  Match name() {
    if (!is_word(text_[at_]) || in_kernel_path()) return std::nullopt;
    if (const std::string* host = longest_here(known_.hosts)) return RedactionMatch{host->size(), "host1"};
    if (const std::string* user = longest_here(known_.users)) {
      return RedactionMatch{user->size(), "user" + number_in(known_.users, *user)};
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string* longest_here(const std::vector<std::string>& names) const {
    const std::string* best = nullptr;
    for (const std::string& name : names) {
      const bool longer = best == nullptr || name.size() > best->size();
      if (longer && is_telling(name) && stands_here(name)) best = &name;
    }
    return best;
  }

  [[nodiscard]] bool stands_here(const std::string& name) const {
    constexpr std::size_t identifier_part = 4;
    const auto joins = [&](char c) { return is_word(c) && (c != '_' || name.size() <= identifier_part); };
    const std::size_t end = at_ + name.size();
    return end <= text_.size() && !joins(before()) && !joins(at(end)) && lowered(name.size()) == name;
  }

  /// Within a path below /sys, /proc or /dev.
  [[nodiscard]] bool in_kernel_path() const {
    std::size_t begin = at_;
    while (begin > 0 && static_cast<unsigned char>(text_[begin - 1]) > ' ' &&
           !contains("\"'`=(<", text_.substr(begin - 1, 1))) {
      --begin;
    }
    const std::string_view path = text_.substr(begin, at_ - begin);
    return path.starts_with("/sys/") || path.starts_with("/proc/") || path.starts_with("/dev/");
  }

  static bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

  std::string_view text_;
  const std::string& home_;
  const Learned& known_;
  Learned* learning_;
  SerialDigits serials_;
  std::size_t at_ = 0;
};

Redaction::Redaction(const KnownNames& names) : active_(true) {
  // user1 is this user also when the name stays (root): others begin at user2.
  const std::string user = to_lower(names.user);
  learned_.users.push_back(is_replaceable_name(user) ? user : std::string());
  for (const std::string& host : {to_lower(names.host), to_lower(names.host.substr(0, names.host.find('.')))}) {
    if (is_replaceable_name(host)) learn_once(learned_.hosts, host);
  }
  // /root and /tmp are nobody's, and "/" is everybody's.
  const bool personal = names.home.starts_with('/') && names.home.find('/', 1) != std::string::npos;
  if (personal) home_ = names.home;
  while (home_.ends_with('/')) home_.pop_back();
}

void Redaction::learn(std::string_view text) {
  if (!active_) return;
  Learned found = learned_;
  (void)RedactionScan(text, home_, learned_, &found).run();
  learned_ = std::move(found);
}

void Redaction::learn_user(std::string_view name) {
  const std::string lowered = to_lower(name);
  if (active_ && is_replaceable_name(lowered)) learn_once(learned_.users, lowered);
}

void Redaction::learn_gpu_serial(std::string_view digits) {
  const std::string lowered = to_lower(digits);
  const bool usable = !lowered.empty() && lowered.size() <= serial_digits &&
                      std::all_of(lowered.begin(), lowered.end(), is_hex) &&
                      lowered.find_first_not_of('0') != std::string::npos;
  if (active_ && usable) learn_once(learned_.gpu_serials, lowered);
}

std::string Redaction::apply(std::string_view text) const {
  if (!active_) return std::string(text);
  return RedactionScan(text, home_, learned_, nullptr).run();
}

std::string Redaction::apply_to_user(std::string_view name) const {
  const std::string lowered = to_lower(name);
  if (!active_ || !is_replaceable_name(lowered)) return std::string(name);
  return "user" + number_in(learned_.users, lowered);
}

std::string Redaction::apply_to_host(std::string_view name) const {
  const std::string lowered = to_lower(name);
  if (!active_ || !is_replaceable_name(lowered) || lowered == "localhost") return std::string(name);
  return "host1";
}

}  // namespace sage
