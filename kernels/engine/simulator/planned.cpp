// See planned.hpp.
#include "engine/simulator/planned.hpp"

#include <algorithm>
#include <cstring>

namespace ge {

int64_t RoleRows::bytes() const {
  int64_t bytes = exists ? bytes_of(type) : 0;
  for (const int64_t extent : shape) bytes *= extent;
  return bytes;
}
const RoleShape& Simulator::role_of(int64_t agent) const {
  for (const RoleShape& role : roles())
    if (agent < role.first + role.count) return role;
  throw Error(Fault::value, "no role has agent " + std::to_string(agent));
}
bool Simulator::actions_are_mixed() const {
  bool floats = false, categories = false;
  for (const RoleShape& role : roles()) (role.is_float ? floats : categories) = true;
  return floats && categories;
}
int64_t Simulator::action_count() const {
  if (config().roles == RoleForm::padded)
    return worlds() * agents() * int64_t(action_ranges().size()) / 2;
  int64_t words = 0;
  for (const RoleShape& role : roles()) words += worlds() * role.count * role.words();
  return words;
}

const std::string& PlannedBase::instance() const {
  return facts_->instance_;
}
const OutputShape& PlannedBase::output(Output which) const {
  return facts_->outputs_[which];
}
int64_t PlannedBase::worlds() const {
  return facts_->config_.worlds;
}
int PlannedBase::agents() const {
  return facts_->agents_;
}
const Config& PlannedBase::config() const {
  return facts_->config_;
}
const std::string& PlannedBase::id() const {
  return facts_->id_;
}
const std::vector<Column>& PlannedBase::columns() const {
  return facts_->columns_;
}
const std::string& PlannedBase::layout() const {
  return facts_->layout_;
}
const AssetShelf* PlannedBase::assets() const {
  return facts_->shelf_.get();
}
const std::vector<double>& PlannedBase::action_ranges() const {
  return facts_->ranges_;
}
bool PlannedBase::action_is_float() const {
  return action_is_float_;
}
const std::vector<RoleShape>& PlannedBase::roles() const {
  return facts_->roles_;
}
int64_t PlannedBase::record_bytes() const {
  return shape_.record_bytes;
}
std::string PlannedBase::text(int64_t, int) const {
  throw Error(Fault::value, "text of a world: only with device='cpu'");
}
bool PlannedBase::scene(int64_t, Scene&, int) const {
  throw Error(Fault::value, "scene of a world: only with device='cpu'");
}

std::vector<std::string> PlannedBase::action_names() const {
  return of_each_action(&PlannedBase::name_of_action);
}
std::vector<std::string> PlannedBase::action_keys() const {
  return of_each_action(&PlannedBase::key_of_action);
}
/// The text of each category, word after word of the action; empty if no category has one. A number
/// has three places instead: its lowest value, the one nearest to 0, and its highest.
std::vector<std::string> PlannedBase::of_each_action(std::string (PlannedBase::*text)(int)
                                                         const) const {
  std::vector<std::string> texts;
  const std::vector<double>& ranges = facts_->ranges_;
  constexpr int kPlacesOfNumber = 3;
  // Flat actions have too many categories.
  if (facts_->flat_actions_ != 0) return texts;
  // Where the first has no name, none has, and there may be many; without keys some may be.
  if (name_of_action(0).empty()) return texts;
  bool has_text = false;
  for (size_t word = 0; word < ranges.size() / 2; ++word) {
    const int count = action_is_float_ ? kPlacesOfNumber : int(ranges[2 * word + 1]) + 1;
    for (int k = 0; k < count; ++k) {
      texts.push_back((this->*text)(int(texts.size())));
      has_text |= !texts.back().empty();
    }
  }
  return has_text ? texts : std::vector<std::string>{};
}

void PlannedBase::need_reset(const char* call) const {
  if (!begun_)
    throw Error(Fault::reset_needed,
                std::string(call) + " before the first reset: call reset() once");
}
void PlannedBase::check_request(const ResetRequest& request) const {
  if (!begun_ && request.mask != nullptr)
    throw Error(Fault::reset_needed,
                "the first reset must be of all worlds: call reset() once without a mask");
}
void PlannedBase::check_range(int64_t first, int64_t count) const {
  if (first < 0 || count < 0 || first + count > worlds())
    throw Error(Fault::value, "worlds " + std::to_string(first) + " to " +
                                  std::to_string(first + count) + " are not within the " +
                                  std::to_string(worlds()) + " of this simulator");
}
void PlannedBase::check_world(int64_t world) const {
  if (world < 0 || world >= worlds())
    throw Error(Fault::value, "world must be from 0 to " + std::to_string(worlds() - 1) + ", got " +
                                  std::to_string(world));
}

FaultReport PlannedBase::report(const Counters& counters) const {
  FaultReport report;
  // Kept as ~row, the largest of which is the lowest row: 0 means none, and a maximum needs no
  // value to begin with.
  const auto place = [&](unsigned long long first, int64_t& world, int64_t& agent) {
    if (first != 0) world = int64_t(~first) / agents(), agent = int64_t(~first) % agents();
  };
  report.bad_actions = int64_t(counters.bad_actions);
  place(counters.first_bad, report.first_bad_world, report.first_bad_agent);
  report.illegal_actions = int64_t(counters.illegal_actions);
  place(counters.first_illegal, report.first_illegal_world, report.first_illegal_agent);
  report.frozen_steps = int64_t(counters.frozen_steps);
  report.lost_views = int64_t(counters.lost_views);
  place(counters.first_lost, report.first_lost_world, report.first_lost_agent);
  bool dropped = false;
  for (const unsigned long long rows : counters.dropped) dropped = dropped || rows != 0;
  if (!dropped) return report;  // callers ask after every step
  // Counters are numbered as the tables are, which rooms() lists in the same order.
  size_t table = 0;
  for (const Room& room : rooms()) {
    if (counters.dropped[table] != 0)
      report.tables.push_back({room.table, int64_t(counters.dropped[table]),
                               int64_t(counters.needed[table]), room.rows});
    ++table;
  }
  return report;
}

// ---- parameters that may differ by world

namespace {
// Worlds whose own parameters are held at once.
constexpr int64_t kOwnChunk = 4096;
}  // namespace

void PlannedBase::read_own(int64_t first, int64_t count, char* to) {
  const int64_t bytes = varied_.end - varied_.begin();
  // All at once: on a GPU each call waits for the device.
  std::vector<char> records(static_cast<size_t>(count * shape_.record_bytes));
  read_records(first, count, records.data());
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * bytes, records.data() + i * shape_.record_bytes + varied_.begin(),
                size_t(bytes));
}
void PlannedBase::write_own(int64_t first, int64_t count, const char* from) {
  const int64_t bytes = varied_.end - varied_.begin();
  const bool had_begun = begun_;
  std::vector<char> records(static_cast<size_t>(count * shape_.record_bytes));
  read_records(first, count, records.data());
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(records.data() + i * shape_.record_bytes + varied_.begin(), from + i * bytes,
                size_t(bytes));
  write_records(first, count, records.data());
  begun_ = had_begun;
}

void PlannedBase::begin_own(std::span<const std::byte> varied) {
  const int64_t bytes = varied_.end - varied_.begin();
  std::vector<char> own(size_t(bytes * std::min(kOwnChunk, worlds())));
  std::memcpy(own.data() + varied_.given - varied_.begin(), varied.data(), varied.size());
  settle_own(varied_, own.data(), 0);
  for (int64_t i = 1; i < int64_t(own.size()) / bytes; ++i)
    std::memcpy(own.data() + i * bytes, own.data(), size_t(bytes));
  for (int64_t first = 0; first < worlds(); first += kOwnChunk)
    write_own(first, std::min(kOwnChunk, worlds() - first), own.data());
}

void PlannedBase::set_parameters(const ParameterChange& change) {
  if (change.all.empty()) return;
  if (varied_.fields.empty())
    throw Error(Fault::value, "no parameter of " + id() + " may differ by world or change");
  check_change(varied_, change, worlds());
  if (!varied_.own()) return change_common(change);
  const int64_t bytes = varied_.end - varied_.begin();
  const bool all = change.worlds.empty();
  const int64_t count = all ? worlds() : int64_t(change.worlds.size());
  std::vector<char> own(size_t(bytes * std::min(kOwnChunk, count)));
  // All worlds are judged before any is changed.
  for (const bool writes : {false, true})
    for (int64_t first = 0; first < count; first += kOwnChunk) {
      const int64_t here = std::min(kOwnChunk, count - first);
      if (all) read_own(first, here, own.data());
      for (int64_t i = 0; i < here; ++i) {
        const int64_t world = all ? first + i : change.worlds[size_t(first + i)];
        char* const row = own.data() + i * bytes;
        if (!all) read_own(world, 1, row);
        change_own(varied_, change, first + i, world, row);
        if (writes && !all) write_own(world, 1, row);
      }
      if (writes && all) write_own(first, here, own.data());
    }
}

std::vector<std::string> PlannedBase::own_parameters() const {
  std::vector<std::string> names;
  if (varied_.own())
    for (const FieldInfo& info : varied_.fields) names.push_back(info.name);
  return names;
}
void PlannedBase::settle(char* records, int64_t count) const {
  if (!varied_.own()) return;
  for (int64_t i = 0; i < count; ++i)
    settle_own(varied_, records + i * shape_.record_bytes + varied_.begin(), i);
}

}  // namespace ge
