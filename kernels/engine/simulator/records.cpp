// See records.hpp.
#include "engine/simulator/records.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <unordered_set>

#include "engine/described/field_info.hpp"
#include "engine/maths/blake2b.hpp"
#include "engine/maths/random.hpp"
#include "engine/simulator/assets.hpp"
#include "engine/simulator/ranges.hpp"

namespace ge {

// ---- between blocks and canonical bytes

namespace {

/// Words of a segment, side by side in `plain` and `stride` words apart in a block.
/// By memcpy of a known size, which is one move: neither address need be aligned to the word.
template <class Word, bool kUnpack>
void move_words(char* plain, char* words, int64_t count, int64_t stride) {
  constexpr int64_t size = sizeof(Word);
  for (int64_t k = 0; k < count; ++k) {
    char* const there = words + k * stride * size;
    std::memcpy(kUnpack ? plain + k * size : there, kUnpack ? there : plain + k * size,
                sizeof(Word));
  }
}

template <bool kUnpack>
void move_segment(const Segment& segment, char* plain, char* words, int64_t stride) {
  const int64_t count = segment.bytes / segment.unit;
  switch (segment.unit) {
    case 1:
      return move_words<uint8_t, kUnpack>(plain, words, count, stride);
    case 2:
      return move_words<uint16_t, kUnpack>(plain, words, count, stride);
    case 4:
      return move_words<uint32_t, kUnpack>(plain, words, count, stride);
    default:
      return move_words<uint64_t, kUnpack>(plain, words, count, stride);
  }
}

template <bool kUnpack>
void move_records(const RecordBlocks& blocks, int64_t first, int64_t count, char* canonical) {
  const RecordShape& shape = blocks.place.shape;
  const int64_t bytes = shape.record_bytes - blocks.begin;
  for (int64_t i = 0; i < count; ++i) {
    char* const plain = canonical + i * bytes;
    // Bytes between columns are zero in every canonical record, so that equal worlds hash alike.
    if (kUnpack) std::memset(plain, 0, size_t(bytes));
    for (const Segment& segment : blocks.segments)
      if (segment.offset >= blocks.begin)
        move_segment<kUnpack>(segment, plain + segment.offset - blocks.begin,
                              blocks.place.word(first + i, segment.offset, segment.unit),
                              shape.block);
  }
}

}  // namespace

void unpack_records(const RecordBlocks& blocks, int64_t first, int64_t count, char* to) {
  move_records<true>(blocks, first, count, to);
}
void pack_records(const RecordBlocks& blocks, int64_t first, int64_t count, const char* from) {
  move_records<false>(blocks, first, count, const_cast<char*>(from));
}

void check_copy(std::span<const int64_t> from, std::span<const int64_t> to, int64_t worlds) {
  if (from.size() != to.size())
    throw Error(Fault::value, "copy_worlds: source has " + std::to_string(from.size()) +
                                  " worlds and destination " + std::to_string(to.size()));
  for (const auto list : {from, to})
    for (const int64_t world : list)
      if (world < 0 || world >= worlds)
        throw Error(Fault::value, "copy_worlds: world " + std::to_string(world) +
                                      " is not one of 0 to " + std::to_string(worlds - 1));
  // No world may be source and destination, so the order of copies does not matter.
  std::unordered_set<int64_t> written;
  for (const int64_t world : to)
    if (!written.insert(world).second)
      throw Error(Fault::value,
                  "copy_worlds: world " + std::to_string(world) + " is a destination twice");
  for (const int64_t world : from)
    if (written.count(world) != 0)
      throw Error(Fault::value, "copy_worlds: world " + std::to_string(world) +
                                    " is both a source and a destination");
}

// ---- saves

namespace {

constexpr char kMagic[8] = {'g', 'p', 'u', '_', 'e', 'n', 'v', '\1'};
constexpr int64_t kDigest = 16;
const char* const kNothing = "(nothing)";

/// The text of a value of JSON that begins at `begin`, up to the comma or bracket that ends it.
std::string value_in(const std::string& text, size_t begin) {
  int depth = 0;
  auto end = begin;
  bool quoted = false;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      if (c == '\\') ++end;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth < 0) break;
    if (c == ',' && depth == 0) break;
    if (depth == 0 && (c == '}' || c == ']')) {
      ++end;
      break;
    }
  }
  return text.substr(begin, end - begin);
}
/// Names and values of an object of JSON whose values are plain.
std::map<std::string, std::string> members_of(const std::string& object) {
  std::map<std::string, std::string> members;
  for (size_t at = object.find('"'); at != std::string::npos;) {
    const auto close = object.find("\": ", at);
    if (close == std::string::npos) break;
    const std::string value = value_in(object, close + 3);
    members[object.substr(at + 1, close - at - 1)] = value;
    at = object.find('"', close + 3 + value.size());
  }
  return members;
}
/// The default of a parameter, as descriptions print it.
std::string default_of(const std::string& instance, const std::string& name) {
  const auto at =
      instance.find("{\"name\": " + json(name) + ",", instance.find("\"parameters\": ["));
  if (at == std::string::npos) return kNothing;
  const auto value = instance.find("\"default\": ", at);
  return value == std::string::npos ? kNothing : value_in(instance, value + 11);
}
/// Whether a save's parameters are those of a simulator. A save of an older build lacks parameters
/// that came later, which have their defaults; what differs by world is in the records.
bool are_same_parameters(const Simulator& simulator, const std::string& theirs,
                         const std::string& own) {
  auto saved = members_of(theirs), here = members_of(own);
  for (const std::string& name : simulator.own_parameters()) saved.erase(name), here.erase(name);
  for (const auto& [name, value] : here)
    if (saved.find(name) == saved.end()) {
      const std::string usual = default_of(simulator.instance(), name);
      // A default has as many digits as a double, and a value those of its type.
      char* end = nullptr;
      const double number = std::strtod(usual.c_str(), &end);
      const bool is_number = end != usual.c_str() && *end == 0;
      const bool same =
          is_number ? float(number) == float(std::strtod(value.c_str(), nullptr)) : usual == value;
      if (!same) return false;
      saved[name] = value;
    }
  return saved == here;
}

// Facts that must match for a save to be loaded: the same text on both sides, compared line by line
// so that a difference can be named.
std::vector<std::pair<std::string, std::string>> save_facts(const Simulator& simulator,
                                                            int64_t worlds) {
  const std::string& instance = simulator.instance();
  // The parameters' values come last, and may be called like the facts.
  const auto values = instance.rfind("\"values\": ");
  // Searched from the end, since a plan's members follow those of the build.
  const auto member = [&](const std::string& key) {
    const auto at = instance.rfind("\"" + key + "\": ", values);
    return at == std::string::npos ? std::string(kNothing)
                                   : value_in(instance, at + key.size() + 4);
  };
  std::vector<std::pair<std::string, std::string>> facts{
      {"environment", json(simulator.id())},
      {"varying", member("varying")},
      {"parameters", member("values")},
      {"tier", member("tier")},
      {"worlds", std::to_string(worlds)},
      {"agents_per_world", std::to_string(simulator.agents())},
      {"autoreset_mode", member("autoreset_mode")},
      {"time_limit", member("time_limit")},
      {"record_bytes", std::to_string(simulator.record_bytes())},
      {"layout", json(simulator.layout())}};
  if (simulator.assets() != nullptr) facts.push_back({"assets", json(simulator.assets()->hash())});
  return facts;
}

std::string save_header(const Simulator& simulator, int64_t worlds) {
  std::string out = "{\"version\": 1";
  for (const auto& [key, value] : save_facts(simulator, worlds))
    if (value != kNothing) out += ",\n \"" + key + "\": " + value;
  return out + "}\n";
}

std::string fact_in(const std::string& header, const std::string& key) {
  // A line each, so that a parameter of the same name is not meant.
  const auto at = header.find(",\n \"" + key + "\": ");
  if (at == std::string::npos) return kNothing;
  const auto begin = at + key.size() + 7;
  const auto line = header.find(",\n", begin);
  const auto end = line == std::string::npos ? header.rfind('}') : line;
  return header.substr(begin, end - begin);
}

/// Refuses worlds that do not exist, and one that is named twice.
void check_named(const std::string& call, std::span<const int64_t> named, int64_t worlds) {
  std::unordered_set<int64_t> met;
  for (const int64_t world : named) {
    if (world < 0 || world >= worlds)
      throw Error(Fault::value, call + ": world " + std::to_string(world) + " is not one of 0 to " +
                                    std::to_string(worlds - 1));
    if (!met.insert(world).second)
      throw Error(Fault::value, call + ": world " + std::to_string(world) + " is named twice");
  }
}

}  // namespace

std::string save(Simulator& simulator, const std::vector<int64_t>* worlds) {
  if (worlds != nullptr) check_named("save", *worlds, simulator.worlds());
  const int64_t count = worlds == nullptr ? simulator.worlds() : int64_t(worlds->size());
  if (count == 0) throw Error(Fault::value, "save: worlds= names no world");
  const std::string header = save_header(simulator, count);
  const int64_t record = simulator.record_bytes();
  std::string out(kMagic, sizeof kMagic);
  // Byte by byte, the lowest first: saves are the same on every machine.
  const uint64_t length = header.size();
  for (int k = 0; k < 8; ++k) out += char(length >> (8 * k));
  out += header;
  const size_t at = out.size();
  out.resize(at + size_t(record * count));
  char* const records = out.data() + at;
  if (worlds == nullptr) simulator.read_records(0, count, records);
  for (int64_t i = 0; worlds != nullptr && i < count; ++i)
    simulator.read_records((*worlds)[size_t(i)], 1, records + i * record);
  const auto digest = Blake2b(kDigest).update(out.data(), out.size()).digest();
  out.append(reinterpret_cast<const char*>(digest.data()), size_t(kDigest));
  return out;
}

namespace {

/// The number of worlds in a save: digits of its header, 0 where they are none.
int64_t worlds_in(const std::string& header) {
  const std::string digits = fact_in(header, "worlds");
  int64_t count = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || count > (int64_t{1} << 40)) return 0;
    count = count * 10 + (digit - '0');
  }
  return count;
}

/// Writes one record into each of some worlds.
void spread_record(Simulator& simulator, const char* record, std::span<const int64_t> worlds) {
  if (worlds.empty()) return;
  simulator.write_records(worlds[0], 1, record);
  const auto rest = worlds.subspan(1);
  const std::vector<int64_t> from(rest.size(), worlds[0]);
  if (!rest.empty()) simulator.copy_worlds(from, rest, false);
}

/// Writes the records of a save into as many worlds, those beside each other in one call.
void scatter_records(Simulator& simulator, const char* records, std::span<const int64_t> worlds) {
  for (size_t begin = 0, end; begin < worlds.size(); begin = end) {
    end = begin + 1;
    while (end < worlds.size() && worlds[end] == worlds[end - 1] + 1) ++end;
    simulator.write_records(worlds[begin], int64_t(end - begin),
                            records + int64_t(begin) * simulator.record_bytes());
  }
}

}  // namespace

void load(Simulator& simulator, const char* data, int64_t bytes,
          const std::vector<int64_t>* worlds) {
  constexpr int64_t kPrefix = sizeof kMagic + 8;
  if (bytes < kPrefix || std::memcmp(data, kMagic, sizeof kMagic) != 0)
    throw Error(Fault::value, "load: these bytes are not a save of gpu_envs");
  uint64_t length = 0;
  for (int k = 0; k < 8; ++k) length |= uint64_t(uint8_t(data[sizeof kMagic + k])) << (8 * k);
  if (bytes < kPrefix + kDigest || length > uint64_t(bytes - kPrefix - kDigest))
    throw Error(Fault::value, "load: the save is truncated: " + std::to_string(bytes) +
                                  " bytes are not all of it");
  const auto digest = Blake2b(kDigest).update(data, size_t(bytes - kDigest)).digest();
  // Facts are compared only in an intact header, but a difference is reported before a wrong
  // length: the number of worlds is one of them, and explains more.
  const bool intact = std::memcmp(digest.data(), data + bytes - kDigest, size_t(kDigest)) == 0;
  const std::string header(data + kPrefix, size_t(length));
  for (const auto& [key, value] : save_facts(simulator, simulator.worlds())) {
    if (!intact) break;
    if (worlds != nullptr && key == "worlds") continue;
    const std::string theirs = fact_in(header, key);
    // Saves of releases before assets do not list facts that follow from the parameters, which are
    // equal.
    const bool follows = key == "assets" && theirs == kNothing && !simulator.assets()->has_files();
    const bool same =
        theirs == value || (key == "parameters" && are_same_parameters(simulator, theirs, value));
    if (!same && !follows)
      throw Error(Fault::value, "load: the save differs in " + key + ": it has " + theirs +
                                    ", this simulator " + value);
  }
  const int64_t record = simulator.record_bytes();
  const int64_t count = intact ? worlds_in(header) : 0;
  const int64_t records = bytes - kPrefix - int64_t(length) - kDigest;
  if (count == 0 || records % record != 0 || records / record != count)
    throw Error(Fault::value,
                "load: the save is damaged or truncated: its checksum does not fit its bytes");
  if (worlds != nullptr) {
    check_named("load", *worlds, simulator.worlds());
    if (count != 1 && count != int64_t(worlds->size()))
      throw Error(Fault::value, "load: the save has " + std::to_string(count) +
                                    " worlds and worlds= names " + std::to_string(worlds->size()));
  }
  const char* const saved = data + kPrefix + int64_t(length);
  check_records(simulator.columns(), saved, count, record);
  std::vector<char> settled;
  if (!simulator.own_parameters().empty()) {
    settled.assign(saved, saved + records);
    simulator.settle(settled.data(), count);
  }
  const char* const from = settled.empty() ? saved : settled.data();
  if (worlds == nullptr)
    simulator.write_records(0, count, from);
  else if (count == 1)
    spread_record(simulator, from, *worlds);
  else
    scatter_records(simulator, from, *worlds);
}

// ---- columns

const Column& find_column(const Simulator& simulator, const std::string& name) {
  std::string known;
  for (const Column& column : simulator.columns()) {
    if (column.name == name) return column;
    known += (known.empty() ? "" : ", ") + column.name;
  }
  throw Error(Fault::value, "unknown column '" + name + "'; there are: " + known);
}

namespace {
// Worlds whose whole records are held at once, to read one column of them.
constexpr int64_t kChunk = 4096;
}  // namespace

void get_column(Simulator& simulator, const Column& column, void* to) {
  const int64_t record = simulator.record_bytes();
  std::vector<char> records(size_t(std::min(kChunk, simulator.worlds()) * record));
  char* out = static_cast<char*>(to);
  for (int64_t first = 0; first < simulator.worlds(); first += kChunk) {
    const int64_t count = std::min(kChunk, simulator.worlds() - first);
    simulator.read_records(first, count, records.data());
    for (int64_t i = 0; i < count; ++i)
      for (int64_t row = 0; row < column.rows; ++row, out += column.bytes)
        std::memcpy(out, records.data() + i * record + column.offset + row * column.stride,
                    size_t(column.bytes));
  }
}

void set_column(Simulator& simulator, const Column& column, const void* from,
                std::span<const int64_t> worlds) {
  const int64_t record = simulator.record_bytes();
  std::vector<char> one(static_cast<size_t>(record));
  const int64_t count = worlds.empty() ? simulator.worlds() : int64_t(worlds.size());
  for (const int64_t world : worlds)
    if (world < 0 || world >= simulator.worlds())
      throw Error(Fault::value, "set: world " + std::to_string(world) + " is not one of 0 to " +
                                    std::to_string(simulator.worlds() - 1));
  const auto number = [&](int64_t i) { return worlds.empty() ? i : worlds[size_t(i)]; };
  const char* in = static_cast<const char*>(from);
  const auto put = [&](int64_t i) {
    simulator.read_records(number(i), 1, one.data());
    for (int64_t row = 0; row < column.rows; ++row)
      std::memcpy(one.data() + column.offset + row * column.stride,
                  in + (i * column.rows + row) * column.bytes, size_t(column.bytes));
    simulator.settle(one.data(), 1);
  };
  const bool has_range = column.low > -kUnbounded || column.high < kUnbounded ||
                         column.last_high < kUnbounded || !simulator.own_parameters().empty();
  for (int64_t i = 0; has_range && i < count; ++i) {  // of all, before any is written
    simulator.read_records(number(i), 1, one.data());
    check_values(column, in + i * column.rows * column.bytes, one.data(), number(i));
    put(i);
  }
  for (int64_t i = 0; i < count; ++i) {
    put(i);
    simulator.write_records(number(i), 1, one.data());
  }
}

// ---- golden runs

namespace {

// Actions, mask and outputs of one call, in machine memory, and the outputs in the host's; freed
// with the run.
class Buffers {
 public:
  Buffers(Simulator& simulator, FinalRows final_rows, int64_t action_bytes)
      : simulator_(simulator),
        actions_(simulator.allocate(action_bytes)),
        mask_(simulator.allocate(simulator.worlds())) {
    bound_.final_rows = final_rows;
    for (int o = 0; o < kOutputCount; ++o) {
      const OutputShape& shape = simulator.output(Output(o));
      if (!shape.exists || has_trait(Output(o), kByName)) continue;
      bound_.at[o] = simulator.allocate(shape.bytes);
      host_[o].resize(size_t(shape.bytes));
      // Steps then clear only what they have written.
      if (final_rows == FinalRows::clear_ended)
        simulator.copy_from_host(bound_.at[o], host_[o].data(), shape.bytes);
    }
  }
  ~Buffers() {
    for (void* memory : bound_.at)
      if (memory != nullptr) simulator_.release(memory);
    simulator_.release(actions_);
    simulator_.release(mask_);
  }
  Buffers(const Buffers&) = delete;
  /// Where the simulator reads actions, and which worlds step.
  void* actions() const { return actions_; }
  uint8_t* mask() const { return static_cast<uint8_t*>(mask_); }
  const Bound& bound() const { return bound_; }
  void fetch() {
    for (int o = 0; o < kOutputCount; ++o)
      if (bound_.at[o] != nullptr)
        simulator_.copy_to_host(host_[o].data(), bound_.at[o], int64_t(host_[o].size()));
  }
  /// Appends one world's part of every output. final_obs is zero outside its mask, so it is taken
  /// whole.
  void hash_world(int64_t world, Blake2b& hash) const {
    for (int o = 0; o < kOutputCount; ++o)
      if (simulator_.output(Output(o)).split)
        hash_roles(Output(o), world, hash);
      else
        hash.update(host_[o].data() + world * bytes_of_world(o), size_t(bytes_of_world(o)));
  }

 private:
  int64_t bytes_of_world(int output) const {
    return int64_t(host_[output].size()) / simulator_.worlds();
  }
  void hash_roles(Output output, int64_t world, Blake2b& hash) const {
    for (const RoleShape& role : simulator_.roles()) {
      if (!role.rows[output].exists) continue;
      const int64_t bytes = role.count * role.rows[output].bytes();
      const char* const rows = host_[output].data() + role.rows[output].first;
      hash.update(rows + world * bytes, size_t(bytes));
    }
  }

  Simulator& simulator_;
  Bound bound_;
  void *actions_, *mask_;
  std::vector<char> host_[kOutputCount];
};

std::string hash_of(const std::vector<Blake2b>& worlds, size_t digest) {
  Blake2b all(8);
  for (const Blake2b& world : worlds) all.update(world.digest().data(), digest);
  return all.hex_digest();
}

/// Random actions, each a function of seed, step, and the world's number under its seed: a world
/// acts the same in a batch and by itself, and an agent the same in either form of roles.
class GoldenActions {
 public:
  explicit GoldenActions(Simulator& simulator)
      : simulator_(simulator),
        is_split_(simulator.config().roles == RoleForm::split),
        is_float_(simulator.action_is_float()),
        drawn_(size_t(simulator.action_count())) {
    for (const RoleShape& role : simulator.roles()) words_ = std::max(words_, role.words());
  }

  int64_t bytes() const { return int64_t(drawn_.size()) * 4; }
  Type type() const { return is_float_ ? Type::float32 : Type::int32; }
  const void* draw_step(int step, uint64_t seed) {
    constexpr uint32_t stream = Name("golden_actions").hash();
    size_t at = 0;
    for (const RoleShape& role : simulator_.roles())
      for (int64_t world = 0; world < simulator_.worlds(); ++world)
        for (int agent = role.first; agent < role.first + role.count; ++agent)
          for (int word = 0; word < role.words(); ++word, ++at) {
            // Not the index: a world keeps its actions in whatever simulator it runs.
            const uint32_t identity = uint32_t(simulator_.config().first_world + world);
            const int k = agent * words_ + word;
            const Draw d = draw(uint32_t(seed), uint32_t(seed >> 32), identity, 0, uint32_t(step),
                                stream, uint32_t(k), 0);
            const double low = role.ranges[size_t(2 * word)],
                         high = role.ranges[size_t(2 * word + 1)];
            const int64_t padded = world * simulator_.agents() * words_ + k;
            drawn_[is_split_ ? at : size_t(padded)] =
                role.is_float ? __builtin_bit_cast(uint32_t, number(d, low, high))
                              : uint32_t(category(d, low, high));
          }
    return drawn_.data();
  }

 private:
  static float number(const Draw& d, double low, double high) {
    const float lo = low == -kUnbounded ? -1.0f : float(low),
                hi = high == kUnbounded ? 1.0f : float(high);
    // At most `hi`, though the sum may round beyond it.
    const float x = lo + (hi - lo) * d.uniform(0);
    return x < hi ? x : hi;
  }
  static int32_t category(const Draw& d, double low, double high) {
    return int32_t(low) + int32_t(d.below(0, uint32_t(high - low) + 1));
  }

  Simulator& simulator_;
  int words_ = 0;  // of the action with the most
  bool is_split_, is_float_;
  std::vector<uint32_t> drawn_;
};

/// Steps that are taken in several calls, each of which steps a part of the worlds. The actions of
/// the others are no actions.
class StepParts {
 public:
  StepParts(Simulator& simulator, int64_t action_bytes, int parts)
      : simulator_(simulator),
        parts_(parts),
        mask_(size_t(simulator.worlds())),
        actions_(size_t(action_bytes / 4)) {}

  /// The part in which a world takes a step: another one from step to step.
  int part_of(int64_t world, int call) const {
    return int((uint32_t(world + call) * 2654435761u >> 16) % uint32_t(parts_));
  }
  void give(const void* drawn, int call, int part, const Buffers& to) {
    std::memcpy(actions_.data(), drawn, actions_.size() * 4);
    for (int64_t world = 0; world < simulator_.worlds(); ++world) {
      mask_[size_t(world)] = part_of(world, call) == part ? 1 : 0;
      if (mask_[size_t(world)] == 0) spoil(world);
    }
    simulator_.copy_from_host(to.actions(), actions_.data(), int64_t(actions_.size()) * 4);
    simulator_.copy_from_host(to.mask(), mask_.data(), int64_t(mask_.size()));
  }

 private:
  void spoil(int64_t world) {
    int64_t at = 0;
    const auto spoil_run = [&](int64_t first, int64_t words) {
      std::fill_n(actions_.begin() + first, words, 0xffff'ffffu);  // -1, and not a number
    };
    if (simulator_.config().roles != RoleForm::split) {
      const int64_t words = int64_t(actions_.size()) / simulator_.worlds();
      return spoil_run(world * words, words);
    }
    for (const RoleShape& role : simulator_.roles()) {
      const int64_t words = role.count * role.words();
      spoil_run(at + world * words, words);
      at += simulator_.worlds() * words;
    }
  }

  Simulator& simulator_;
  int parts_;
  std::vector<uint8_t> mask_;
  std::vector<uint32_t> actions_;
};

/// A hash of the worlds' hashes: worlds may be read in any portions.
std::string hash_of_records(Simulator& simulator) {
  const int64_t worlds = simulator.worlds(), bytes = simulator.record_bytes();
  std::vector<Blake2b> records(size_t(worlds), Blake2b(8));
  // Many at once: each reading waits for the machine.
  const int64_t most =
      std::clamp<int64_t>((int64_t{1} << 24) / std::max<int64_t>(bytes, 1), 1, worlds);
  std::vector<char> some(size_t(most * bytes));
  for (int64_t first = 0; first < worlds; first += most) {
    const int64_t count = std::min(most, worlds - first);
    simulator.read_records(first, count, some.data());
    for (int64_t w = 0; w < count; ++w)
      records[size_t(first + w)].update(some.data() + w * bytes, size_t(bytes));
  }
  return hash_of(records, 8);
}

}  // namespace

Golden golden_run(Simulator& simulator, int steps, uint64_t seed, FinalRows final_rows,
                  int in_a_row, int parts) {
  if (in_a_row < 1) throw Error(Fault::value, "in_a_row must be at least 1");
  if (parts < 1) throw Error(Fault::value, "parts must be at least 1");
  GoldenActions actions(simulator);
  const int64_t worlds = simulator.worlds();
  StepParts split(simulator, actions.bytes(), parts);
  const int most = std::min(in_a_row, steps + 1);
  std::deque<Buffers> buffers;  // of the calls in a row, and of each part of a call
  for (int k = 0; k < most * parts; ++k)
    buffers.emplace_back(simulator, final_rows, actions.bytes());
  std::vector<Blake2b> outputs(size_t(worlds), Blake2b(8));
  const uint64_t seeds[1] = {seed};
  ResetRequest request;
  request.seeds = seeds;
  // Call 0 is the reset, call k is step k - 1.
  for (int first = 0; first <= steps; first += in_a_row) {
    const int count = std::min(in_a_row, steps + 1 - first);
    for (int k = 0; k < count; ++k)
      if (first + k > 0) {
        const void* const drawn = actions.draw_step(first + k - 1, seed);
        for (int part = 0; part < parts; ++part)
          split.give(drawn, first + k, part, buffers[size_t(k * parts + part)]);
      }
    for (int k = 0; k < count; ++k) {
      if (first + k == 0) {
        simulator.reset(request, buffers[0].bound(), nullptr);
        continue;
      }
      for (int part = 0; part < parts; ++part) {
        const Buffers& own = buffers[size_t(k * parts + part)];
        simulator.step({own.actions(), actions.type(), parts > 1 ? own.mask() : nullptr},
                       own.bound(), nullptr);
      }
    }
    for (int k = 0; k < count; ++k) {
      const int called = first + k == 0 ? 1 : parts;
      for (int part = 0; part < called; ++part) buffers[size_t(k * parts + part)].fetch();
      for (int64_t w = 0; w < worlds; ++w) {
        const int part = called == 1 ? 0 : split.part_of(w, first + k);
        buffers[size_t(k * parts + part)].hash_world(w, outputs[size_t(w)]);
      }
    }
  }
  return {hash_of_records(simulator), hash_of(outputs, 8)};
}

}  // namespace ge
