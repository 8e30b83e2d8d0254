// See fat_binary.hpp.
#include "ptx/runtime/fat_binary.hpp"

#include <cstdint>
#include <cstring>

namespace ge::ptx {
namespace {

constexpr uint32_t kWrapper = 0x466243B1, kMagic = 0xBA55ED50;
struct Wrapper {
  uint32_t magic, version;
  const char* data;
};
struct Header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // of all parts
};
struct PartHeader {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t compressed_bytes;  // 0: it is not compressed
  uint32_t options;
  uint16_t minor, major;
  uint32_t architecture;
};
constexpr uint16_t kPtx = 1, kMachineCode = 2;

/// Reads a structure of a file; false where it ends before.
template <class T>
bool read(std::string_view file, uint64_t at, T& to) {
  if (at > file.size() || file.size() - at < sizeof(T)) return false;
  std::memcpy(&to, file.data() + at, sizeof(T));
  return true;
}
std::string_view piece(std::string_view file, uint64_t at, uint64_t bytes) {
  return at > file.size() || file.size() - at < bytes ? std::string_view() : file.substr(at, bytes);
}

}  // namespace

FatBinary read_fat_binary(const void* wrapper) {
  FatBinary found;
  Wrapper outer;
  std::memcpy(&outer, wrapper, sizeof outer);
  if (outer.magic != kWrapper || outer.data == nullptr) return found;
  Header header;
  std::memcpy(&header, outer.data, sizeof header);
  if (header.magic != kMagic) return found;
  const std::string_view all(outer.data, header.header_bytes + header.bytes);
  PartHeader part;
  for (uint64_t at = header.header_bytes; read(all, at, part);) {
    std::string_view text = piece(all, at + part.header_bytes, part.bytes);
    if (text.empty()) break;
    at += part.header_bytes + part.bytes;
    if (part.kind != kPtx && part.kind != kMachineCode) continue;
    if (part.compressed_bytes != 0) {
      found.has_compressed = true;
      continue;
    }
    // Zeros fill the text up to a multiple of eight bytes.
    if (part.kind == kPtx)
      while (!text.empty() && text.back() == 0) text.remove_suffix(1);
    (part.kind == kPtx ? found.ptx : found.machine_code).push_back({int(part.architecture), text});
  }
  return found;
}

const FatBinary::Part* FatBinary::best(int device) const {
  const Part* found = nullptr;
  for (const Part& part : ptx)
    if (part.architecture <= device &&
        (found == nullptr || part.architecture > found->architecture))
      found = &part;
  return found;
}

// ---- cubins: section .nv.info lists attributes of symbols

namespace {

struct Section {
  uint32_t name, type;
  uint64_t flags, address, offset, bytes;
  uint32_t link, info;
  uint64_t align, entry_bytes;
};
struct Symbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, bytes;
};
struct ElfHeader {
  char magic[4];
  char rest[36];
  uint64_t sections;
  uint32_t flags;
  uint16_t sizes[3], section_bytes, section_count, names;
};
constexpr uint32_t kSymbols = 2, kCudaInfo = 0x70000000;
/// An attribute of .nv.info: its format and number, then as many bytes as it says.
struct Attribute {
  uint8_t format, number;
  uint16_t bytes;
  static constexpr uint8_t kSized = 4, kStackBytes = 0x12, kRegisters = 0x2f;
};
struct OfSymbol {
  uint32_t symbol, value;
};

}  // namespace

std::map<std::string, Resources> resources_of(std::string_view cubin) {
  std::map<std::string, Resources> found;
  ElfHeader header;
  if (!read(cubin, 0, header) || std::memcmp(header.magic,
                                             "\x7f"
                                             "ELF",
                                             4) != 0)
    return found;
  std::vector<Section> sections(header.section_count);
  for (size_t k = 0; k < sections.size(); ++k)
    if (!read(cubin, header.sections + k * header.section_bytes, sections[k])) return found;
  const auto contents = [&](const Section& one) { return piece(cubin, one.offset, one.bytes); };
  std::string_view symbols, names;
  for (const Section& one : sections)
    if (one.type == kSymbols && one.link < sections.size())
      symbols = contents(one), names = contents(sections[one.link]);
  for (const Section& one : sections) {
    // Sections of single kernels have the same type, and say nothing of these.
    if (one.type != kCudaInfo) continue;
    const std::string_view text = contents(one);
    Attribute attribute;
    for (uint64_t at = 0; read(text, at, attribute);) {
      at += sizeof attribute;
      if (attribute.format != Attribute::kSized) continue;  // its value is in `bytes`
      OfSymbol of;
      Symbol symbol;
      const bool is_ours =
          attribute.number == Attribute::kStackBytes || attribute.number == Attribute::kRegisters;
      if (is_ours && read(text, at, of) && read(symbols, of.symbol * sizeof symbol, symbol) &&
          symbol.name < names.size()) {
        // The table of names ends with a zero.
        Resources& own = found[std::string(names.substr(symbol.name).data())];
        if (attribute.number == Attribute::kRegisters)
          own.registers = int(of.value);
        else
          own.local_bytes = of.value;
      }
      at += attribute.bytes;
    }
  }
  return found;
}

}  // namespace ge::ptx
