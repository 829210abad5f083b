#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

// The bytes in which a child of ours sends its answer through a pipe to us. Both ends are the same program, so the
// format needs no version, but the child may have run a foreign library that damaged its memory: the reader trusts no
// length. One `fields` function for a struct serves both directions.

namespace sage {

class PacketWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      fields(*this, value);
    }
  }

  void put(std::string& text) {
    count(text.size());
    bytes_ += text;
  }

  template <class T>
  void put(std::vector<T>& list) {
    count(list.size());
    for (T& item : list) put(item);
  }

  void put(std::map<std::string, bool>& answers) {
    count(answers.size());
    for (auto& [name, answer] : answers) {
      std::string key = name;
      (*this)(key, answer);
    }
  }

  template <class T>
  void put(std::optional<T>& value) {
    bool present = value.has_value();
    put(present);
    if (present) put(*value);
  }

  template <class T>
  void put(Result<T>& result) {
    bool good = result.ok();
    put(good);
    if (good) {
      put(result.value());
    } else {
      Error error = result.error();
      (*this)(error.number, error.text);
    }
  }

  void count(std::uint64_t number) { put(number); }

  std::string bytes_;
};

class PacketReader {
 public:
  explicit PacketReader(std::string_view bytes) : rest_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }

  /// True when everything was there and nothing is left over.
  [[nodiscard]] bool complete() const { return good_ && rest_.empty(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      get(byte);
      value = byte != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      const std::string_view bytes = bite(sizeof value);
      if (good_) std::memcpy(&value, bytes.data(), sizeof value);
    } else {
      fields(*this, value);
    }
  }

  void get(std::string& text) { text = bite(count()); }

  template <class T>
  void get(std::vector<T>& list) {
    for (std::uint64_t left = count(); left != 0 && good_; --left) get(list.emplace_back());
  }

  void get(std::map<std::string, bool>& answers) {
    for (std::uint64_t left = count(); left != 0 && good_; --left) {
      std::string name;
      bool answer = false;
      (*this)(name, answer);
      answers.emplace(std::move(name), answer);
    }
  }

  template <class T>
  void get(std::optional<T>& value) {
    bool present = false;
    get(present);
    if (present && good_) get(value.emplace());
  }

  template <class T>
  void get(Result<T>& result) {
    bool was_ok = false;
    get(was_ok);
    if (was_ok) {
      T value{};
      get(value);
      result = std::move(value);
    } else {
      Error error;
      (*this)(error.number, error.text);
      result = std::move(error);
    }
  }

  std::uint64_t count() {
    std::uint64_t number = 0;
    get(number);
    return good_ ? number : 0;
  }

  std::string_view bite(std::uint64_t size) {
    if (size > rest_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool good_ = true;
};

template <class Packet>
void fields(Packet& packet, FileStatus& s) {
  packet(s.type, s.mode, s.uid, s.gid, s.device_major, s.device_minor, s.size, s.inode);
}

template <class Packet>
void fields(Packet& packet, Errno& e) {
  packet(e.value);
}

template <class Packet>
void fields(Packet& packet, ElfFacts& e) {
  packet(e.bits, e.machine, e.soname, e.needed, e.rpath, e.runpath, e.build_id, e.symbols, e.strings, e.version_needs,
         e.version_definitions, e.device_code);
}

template <class Packet>
void fields(Packet& packet, ElfVersionNeed& n) {
  packet(n.library, n.versions);
}

template <class Packet>
void fields(Packet& packet, ElfDeviceCode& d) {
  packet(d.in_file, d.compressed, d.complete, d.targets);
}

template <class Packet>
void fields(Packet& packet, DxgAdapterReply& a) {
  packet(a.vendor_id, a.device_id, a.revision, a.name, a.dedicated_bytes, a.shared_bytes, a.driver_version,
         a.wddm_version, a.type_bits);
}

template <class Packet>
void fields(Packet& packet, DrmDeviceReply& d) {
  packet(d.render_node, d.pci_address, d.marketing_name, d.vram_bytes);
}

template <class T>
[[nodiscard]] std::string pack(T value) {
  PacketWriter packet;
  packet(value);
  return packet.take();
}

/// False when the bytes are not exactly one T.
template <class T>
[[nodiscard]] bool unpack(std::string_view bytes, T& value) {
  PacketReader packet(bytes);
  packet(value);
  return packet.complete();
}

}  // namespace sage
