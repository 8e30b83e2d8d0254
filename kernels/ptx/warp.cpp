#include "ptx/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

namespace ge::ptx {

void Warp::begin(Code& code, char* registers, uint32_t lanes) {
  registers_ = registers;
  context.alive = lanes;
  barrier_ = nullptr;
  left_ = settings->limit;
  frames_.clear();
  frames_.push_back({&code, 0, 0, nullptr, {{0, Way::kNowhere, lanes}}});
  open(frames_.back());
}

uint32_t Warp::special(Special what, int lane) const {
  const Extent &threads = launch->block, &blocks = launch->grid;
  const auto thread = unsigned(context.warp * kLanes + lane);
  const uint32_t alone = 1u << lane, below = alone - 1;
  switch (what) {
    case Special::thread_x:
      return thread % threads.x;
    case Special::thread_y:
      return thread / threads.x % threads.y;
    case Special::thread_z:
      return thread / threads.x / threads.y;
    case Special::threads_x:
      return threads.x;
    case Special::threads_y:
      return threads.y;
    case Special::threads_z:
      return threads.z;
    case Special::block_x:
      return block.x;
    case Special::block_y:
      return block.y;
    case Special::block_z:
      return block.z;
    case Special::blocks_x:
      return blocks.x;
    case Special::blocks_y:
      return blocks.y;
    case Special::blocks_z:
      return blocks.z;
    case Special::lane:
      return uint32_t(lane);
    case Special::warp:
      return uint32_t(context.warp);
    case Special::lanes_below:
      return below;
    case Special::lanes_to:
      return below | alone;
    case Special::lanes_above:
      return ~(below | alone);
    case Special::lanes_from:
      return ~below;
    case Special::lane_alone:
      return alone;
    default:
      return 0;
  }
}
/// Fills a frame's constants and special registers. Registers are nobody's yet.
void Warp::open(Frame& frame) {
  char* const at = registers_ + frame.begin;
  const Code& code = *frame.code;
  std::copy(code.image.begin(), code.image.end(), at);
  if (dice != nullptr)
    fill(at + code.image.size(), code.frame_bytes - code.image.size(), settings->poison);
  const auto fill_wide = [&](uint32_t place, uint64_t value) {
    std::fill_n(reinterpret_cast<uint64_t*>(at + place), kLanes, value);
  };
  for (const Code::Filled& filled : code.specials) {
    if (filled.what == Special::local_base)
      fill_wide(filled.at, uint64_t(frame.local_base));
    else if (filled.what == Special::params)
      fill_wide(filled.at, reinterpret_cast<uint64_t>(context.params));
    else if (filled.what == Special::dynamic_shared)
      fill_wide(filled.at, uint64_t(static_shared));
    else
      for (int lane = 0; lane < kLanes; ++lane)
        reinterpret_cast<uint32_t*>(at + filled.at)[lane] = special(filled.what, lane);
  }
  look_at(frame);
}
void Warp::look_at(const Frame& frame) {
  context.registers = registers_ + frame.begin;
  context.local_end = frame.local_base + frame.code->local_bytes;
}

uint32_t Warp::predicate() const {
  uint32_t word;
  std::memcpy(&word, context.registers + barrier_->a, sizeof word);
  return word & context.alive;
}
void Warp::pass_barrier(bool is_true) {
  if (barrier_->variant != kBarrier)
    put_predicate(context, barrier_->d, context.alive, is_true ? kAllLanes : 0);
}

std::string Warp::where(const Module& module) const {
  std::string text;
  for (size_t k = frames_.size(); k-- > 0;) {
    const Frame& frame = frames_[k];
    const auto& code = frame.code->function->code;
    // Below the last frame an instruction has been left behind: the call.
    size_t at = frame.ways.empty() ? code.size() : size_t(frame.ways.back().at);
    if (k + 1 < frames_.size() && at > 0) --at;
    text += "\n  in " + frame.code->function->name;
    if (at >= code.size()) continue;
    const Statement& s = code[at];
    text += "\n    PTX line " + std::to_string(s.line) + ": " + s.whole();
    if (const auto file = module.files.find(s.source_file);
        s.source_line > 0 && file != module.files.end())
      text += ", of " + file->second + ":" + std::to_string(s.source_line);
  }
  return text;
}

/// Lanes that leave a frame are on none of its ways any more.
void Warp::drop(Frame& frame, uint32_t lanes) {
  for (Way& way : frame.ways) way.lanes &= ~lanes;
  std::erase_if(frame.ways, [](const Way& way) { return way.lanes == 0; });
}
/// Lanes that end without having waited break the chain: the launch behind this one would begin
/// before the one in front of it has ended.
void Warp::end(uint32_t lanes) {
  if (context.is_dependent && (lanes & ~context.waited) != 0)
    throw Fault("a thread ends without griddepcontrol.wait");
  context.alive &= ~lanes;
}
void Warp::close_finished() {
  while (!frames_.empty() && frames_.back().ways.empty()) frames_.pop_back();
  if (!frames_.empty()) look_at(frames_.back());
}

/// A branch whose lanes go different ways: both begin here, and meet others where they end.
void Warp::split(Frame& frame, const Instruction& i, uint32_t taken) {
  Way& way = frame.ways.back();
  const int outer = way.meeting, meeting = i.join < 0 ? outer : i.join;
  Way stays{way.at + 1, meeting, way.lanes & ~taken}, goes{i.target, meeting, taken};
  if (meeting == outer)
    frame.ways.pop_back();
  else
    way.at = meeting;
  if (dice != nullptr && ((*dice)() & 1) != 0) std::swap(stays, goes);
  for (const Way& one : {stays, goes})
    if (one.at != meeting) frame.ways.push_back(one);
}
void Warp::choose(Frame& frame, const Instruction& i, uint32_t lanes) {
  const auto& table = frame.code->tables[size_t(i.side)];
  Way& way = frame.ways.back();
  std::map<int, uint32_t> to;
  each(lanes, [&](int lane) {
    const auto k = get<uint32_t>(context, i.a, lane);
    if (k >= table.size()) throw Fault("brx.idx beyond its table");
    to[table[k]] |= 1u << lane;
  });
  if (const uint32_t rest = way.lanes & ~lanes; rest != 0) to[way.at + 1] |= rest;
  if (to.size() == 1) {
    way.at = to.begin()->first;
    return;
  }
  if (context.count != nullptr) ++context.count->splits;
  const int outer = way.meeting, meeting = i.join < 0 ? outer : i.join;
  if (meeting == outer)
    frame.ways.pop_back();
  else
    way.at = meeting;
  std::vector<Way> ways;
  for (const auto& [target, some] : to)
    if (target != meeting) ways.push_back({target, meeting, some});
  if (dice != nullptr) std::shuffle(ways.begin(), ways.end(), *dice);
  frame.ways.insert(frame.ways.end(), ways.begin(), ways.end());
}

void Warp::enter(const Instruction& i, uint32_t lanes) {
  const Frame& from = frames_.back();
  const Call& call = from.code->calls[size_t(i.side)];
  const char* const given = context.registers;
  frames_.push_back({call.callee,
                     from.begin + from.code->frame_bytes,
                     from.local_base + from.code->local_room(),
                     &call,
                     {{0, Way::kNowhere, lanes}}});
  open(frames_.back());
  for (const Call::Copy& copy : call.in)
    std::memcpy(context.registers + copy.to, given + copy.from, size_t(kLanes) * copy.bytes);
}
void Warp::leave(uint32_t lanes) {
  Frame& frame = frames_.back();
  if (frame.call == nullptr) {
    end(lanes);
  } else {
    char* const to = registers_ + frames_[frames_.size() - 2].begin;
    for (const Call::Copy& copy : frame.call->out)
      each(lanes, [&](int lane) {
        const size_t at = size_t(lane) * copy.bytes;
        std::memcpy(to + copy.to + at, context.registers + copy.from + at, copy.bytes);
      });
  }
  drop(frame, lanes);
  close_finished();
}

void Warp::run() {
  const bool counts = settings->counts;
  uint64_t left = left_;
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    Way& way = frame.ways.back();
    if (way.at == way.meeting) {
      frame.ways.pop_back();
      continue;
    }
    const Instruction& i = frame.code->instructions[size_t(way.at)];
    if (left-- == 0) throw Fault("a kernel that does not end");
    uint32_t lanes = way.lanes;
    if (i.guard >= 0) {
      const uint32_t guard = predicate_at(context, uint32_t(i.guard));
      lanes &= i.is_negated ? ~guard : guard;
    }
    context.count = nullptr;
    if (counts) {
      context.count = &frame.code->counts[size_t(way.at)];
      ++context.count->warps;
      context.count->lanes += uint64_t(std::popcount(lanes));
    }
    if (i.flow == Flow::plain) {
      if (lanes != 0) i.run(context, i, lanes);
      ++way.at;
      continue;
    }
    if (i.flow == Flow::branch) {
      if (lanes == way.lanes) {
        way.at = i.target;
      } else if (lanes == 0) {
        ++way.at;
      } else {
        if (counts) ++context.count->splits;
        split(frame, i, lanes);
      }
      continue;
    }
    if (lanes == 0) {
      ++way.at;
      continue;
    }
    switch (i.flow) {
      case Flow::table:
        choose(frame, i, lanes);
        break;
      case Flow::call:
        ++way.at;
        enter(i, lanes);
        break;
      case Flow::leave:
        ++way.at;
        leave(lanes);
        break;
      case Flow::finish:
        ++way.at;
        end(lanes);
        for (Frame& each_frame : frames_) drop(each_frame, lanes);
        close_finished();
        break;
      case Flow::barrier:
        if (lanes != context.alive)
          throw Fault(
              "divergent barrier: " + std::to_string(std::popcount(context.alive & ~lanes)) +
              " lanes are elsewhere");
        barrier_ = &i;
        left_ = left;
        ++way.at;
        return;
      default:
        throw Fault("trap, or an instruction that is not supported");
    }
  }
}

}  // namespace ge::ptx
