// Troupe: a test-only environment of three kinds of agents, none of whose spaces are alike.
//
//   dancers    move to the tempo, never twice the same way (a mask says so), tire, and leave when
//              they have no strength left
//   drummers   make the tempo together; they have no mask of their own
//   clown      is not there in some episodes, and goes home early
//
// Band-v0 is the same with actions that no padding makes alike: dancers have two categories,
// drummers numbers.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::troupe {

using namespace ge;

// ---- what is described

struct Params {
  int32_t dancer_count = 3;
  int32_t drummer_count = 2;
  float absence = 0.5f;

  static constexpr auto describe() {
    return fields(
        field("dancer_count", &Params::dancer_count, "dancers of a world").within(1, 4),
        field("drummer_count", &Params::drummer_count, "drummers of a world").within(1, 2),
        field("absence", &Params::absence, "how likely an episode has no clown").within(0, 1));
  }
};

/// What dancers and drummers do where every action is one category.
struct Simple {
  struct Move {
    int32_t move;
    static constexpr bool transient = true;
    static constexpr auto describe() {
      return fields(field("move", &Move::move, "0 rests, 1 and 2 go left and right").one_of(3));
    }
    GE_FN float lift() const { return 1.0f; }
  };
  struct Beat {
    int32_t beat;
    static constexpr bool transient = true;
    static constexpr auto describe() {
      return fields(field("beat", &Beat::beat, "how hard").one_of(5));
    }
    GE_FN float strength() const { return 0.25f * float(beat); }
  };
};
/// And where they are of several kinds.
struct Mixed {
  struct Move {
    int32_t move, lift_level;
    static constexpr bool transient = true;
    static constexpr auto describe() {
      return fields(field("move", &Move::move, "0 rests, 1 and 2 go left and right").one_of(3),
                    field("lift_level", &Move::lift_level, "how high").one_of(4));
    }
    GE_FN float lift() const { return 1.0f + 0.5f * float(lift_level); }
  };
  struct Beat {
    float left, right;
    static constexpr bool transient = true;
    static constexpr auto describe() {
      return fields(field("left", &Beat::left, "of the left hand").within(0, 1),
                    field("right", &Beat::right, "of the right hand").within(-1, 1));
    }
    GE_FN float strength() const { return 0.5f * (left + abs(right)); }
  };
};
struct Joke {
  int32_t told;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("told", &Joke::told, "1 tells a joke").one_of(2));
  }
};

// ---- components and tables

struct Body {
  float x, strength;
  int32_t last;
  static constexpr auto describe() {
    return fields(field("x", &Body::x, "place on the stage").in("m"),
                  field("strength", &Body::strength, "what is left"),
                  field("last", &Body::last, "last move").within(0, 2));
  }
};
struct Rhythm {
  float strength;
  static constexpr auto describe() {
    return fields(field("strength", &Rhythm::strength, "of the last beat"));
  }
};
struct Humour {
  int32_t jokes, most;
  static constexpr auto describe() {
    return fields(field("jokes", &Humour::jokes, "told in this episode").any_value(),
                  field("most", &Humour::most, "after which the clown goes home").any_value());
  }
};
struct Tempo {
  float value;
  static constexpr auto describe() { return fields(field("tempo", &Tempo::value, "of all drums")); }
};

template <class Kind>
struct Dancers : Agents<4, Body, typename Kind::Move> {
  static constexpr const char* name = "dancers";
  static int GE_FN count(const Params& p) { return p.dancer_count; }
};
template <class Kind>
struct Drummers : Agents<2, Rhythm, typename Kind::Beat> {
  static constexpr const char* name = "drummers";
  static int GE_FN count(const Params& p) { return p.drummer_count; }
};
struct Clowns : Agents<1, Humour, Joke> {
  static constexpr const char* name = "clowns";
};
struct Stage : Single<Tempo> {
  static constexpr const char* name = "stage";
};

// ---- rows

struct DancerRow {
  float x, strength, tempo, others[4];
  static constexpr auto describe() {
    return fields(field("x", &DancerRow::x, "place").in("m"),
                  field("strength", &DancerRow::strength, "what is left"),
                  field("tempo", &DancerRow::tempo, "of all drums"),
                  field("others", &DancerRow::others, "places of all dancers").in("m"));
  }
};
struct DrummerRow {
  float strengths[4], beats[2], tempo, time, self;
  static constexpr auto describe() {
    return fields(field("strengths", &DrummerRow::strengths, "of all dancers"),
                  field("beats", &DrummerRow::beats, "of all drummers"),
                  field("tempo", &DrummerRow::tempo, "of all drums"),
                  field("time", &DrummerRow::time, "steps of the episode"),
                  field("self", &DrummerRow::self, "which of the drummers"));
  }
};
struct ClownRow {
  float jokes, tempo;
  static constexpr auto describe() {
    return fields(field("jokes", &ClownRow::jokes, "told in this episode"),
                  field("tempo", &ClownRow::tempo, "of all drums"));
  }
};
/// What a clown's episode has come to.
struct ClownMeasures {
  float jokes, length;
  static constexpr auto describe() {
    return fields(field("jokes_told", &ClownMeasures::jokes, "in the episode"),
                  field("stayed", &ClownMeasures::length, "steps of the episode"));
  }
  template <class W>
  static GE_FN ClownMeasures of(const W& w, int agent) {
    (void)agent;  // there is one
    return {float(get<Clowns, Humour>(w, 0).jokes), float(w.step())};
  }
};
struct DancerMask {
  uint8_t legal[3];
  static constexpr auto describe() {
    return fields(field("legal", &DancerMask::legal, "1: the move may be made").within(0, 1));
  }
};
struct ClownMask {
  uint8_t legal[2];
  static constexpr auto describe() {
    return fields(field("legal", &ClownMask::legal, "1: it may be done").within(0, 1));
  }
};

template <class Kind>
struct Dancer {
  static constexpr const char* name = "dancer";
  using Agent = Dancers<Kind>;
  using Action = typename Kind::Move;
  using Observation = DancerRow;
};
/// A mask of one category; of several there is none here.
template <>
struct Dancer<Simple> {
  static constexpr const char* name = "dancer";
  using Agent = Dancers<Simple>;
  using Action = Simple::Move;
  using Observation = DancerRow;
  using ActionMask = DancerMask;
};
template <class Kind>
struct Drummer {
  static constexpr const char* name = "drummer";
  using Agent = Drummers<Kind>;
  using Action = typename Kind::Beat;
  using Observation = DrummerRow;
};
struct Clown {
  static constexpr const char* name = "clown";
  using Agent = Clowns;
  using Action = Joke;
  using Observation = ClownRow;
  using Measures = ClownMeasures;
  using ActionMask = ClownMask;
};

template <class Kind>
struct Schema {
  using Params = troupe::Params;
  using roles = Types<Dancer<Kind>, Drummer<Kind>, Clown>;
  using tables = Types<Dancers<Kind>, Drummers<Kind>, Clowns, Stage>;
  static constexpr Tuning tuning{.flat = true};
};

// ---- rules

template <class Kind>
struct Rules {
  using W = World<Schema<Kind>>;
  using Move = typename Kind::Move;
  using Beat = typename Kind::Beat;

  static GE_FN void place_dancer(const W& w, Slot me, Body& body) {
    const Draw random = draw<"dancer">(w, me.row);
    body = {random.uniform(0) * 4.0f - 2.0f, 1.0f + random.uniform(1) * 2.0f, 0};
  }
  static GE_FN void rest_drummer(const W&, Rhythm& rhythm) { rhythm = {0.0f}; }
  static GE_FN void invite_clown(const W& w, Slot me, Humour& humour, Fate& fate) {
    const Draw random = draw<"clown">(w, me.row);
    humour = {0, 3 + int32_t(random.below(1, 5))};
    if (random.uniform(0) < w.params().absence) fate = Fate::absent();
  }
  static GE_FN void be_quiet(const W&, Tempo& tempo) { tempo.value = 0.0f; }

  static GE_FN void drum(const W&, Rhythm& rhythm, const Beat& beat) {
    rhythm.strength = beat.strength();
  }
  static GE_FN float beat_of(const W&, const Rhythm& rhythm) { return rhythm.strength; }
  static GE_FN void set_tempo(const W&, float sum, Tempo& tempo) {
    tempo.value = 0.5f * tempo.value + sum;
  }
  static GE_FN void dance(const W& w, Slot me, Body& body, Reward& reward, Ending& ending,
                          const Move& move, const Fate& fate) {
    const float tempo = get<Tempo>(w).value;
    int32_t chosen = move.move;
    if (chosen != 0 && chosen == body.last) {
      if ((fate.bits & Fate::kGone) == 0) count_illegal<Dancers<Kind>>(w, me.row);
      chosen = 0;
    }
    const float way = chosen == 0 ? 0.0f : chosen == 1 ? -1.0f : 1.0f;
    body.x += way * tempo * move.lift() * 0.1f;
    body.strength -= 0.05f + 0.05f * tempo;
    body.last = chosen;
    reward.value = way * way * tempo - 0.01f * body.x * body.x;
    ending.terminated = body.strength <= 0.0f ? 1u : 0u;
  }
  static GE_FN void applaud(const W& w, Reward& reward, const Rhythm& rhythm) {
    reward.value = get<Tempo>(w).value - rhythm.strength;
  }
  static GE_FN void joke(const W& w, Humour& humour, Reward& reward, Ending& ending,
                         const Joke& joke) {
    const bool laughs = joke.told != 0 && get<Tempo>(w).value < 1.0f;
    humour.jokes += joke.told;
    reward.value = laughs ? 1.0f : 0.0f;
    ending.truncated = humour.jokes >= humour.most ? 1u : 0u;
  }

  static GE_FN void observe_dancer(const W& w, DancerRow& row, const Body& body) {
    row.x = body.x, row.strength = body.strength;
    row.tempo = get<Tempo>(w).value;
    for (int k = 0; k < w.params().dancer_count; ++k)
      row.others[k] = get<Dancers<Kind>, Body>(w, k).x;
  }
  static GE_FN void observe_drummer(const W& w, DrummerRow& row, Slot me) {
    for (int k = 0; k < w.params().dancer_count; ++k)
      row.strengths[k] = get<Dancers<Kind>, Body>(w, k).strength;
    for (int k = 0; k < w.params().drummer_count; ++k)
      row.beats[k] = get<Drummers<Kind>, Rhythm>(w, k).strength;
    row.tempo = get<Tempo>(w).value;
    row.time = float(w.step());
    row.self = float(me.row);
  }
  static GE_FN void observe_clown(const W& w, ClownRow& row, const Humour& humour) {
    row = {float(humour.jokes), get<Tempo>(w).value};
  }
  static GE_FN void mask_dancer(const W&, DancerMask& mask, const Body& body) {
    for (int k = 0; k < 3; ++k) mask.legal[k] = k == 0 || k != body.last ? 1 : 0;
  }
  static GE_FN void mask_clown(const W&, ClownMask& mask) { mask.legal[0] = mask.legal[1] = 1; }
};

// ---- graphs

template <class Kind>
struct Masks {
  using type = Stages<>;
};
template <>
struct Masks<Simple> {
  using type = Stages<ObserveMaskAs<Dancer<Simple>, &Rules<Simple>::mask_dancer>>;
};

template <class Kind>
struct Environment {
  using Schema = troupe::Schema<Kind>;
  using R = Rules<Kind>;
  using Reset = Stages<Each<&R::place_dancer>, Each<&R::rest_drummer>, Each<&R::invite_clown>,
                       EachWorld<&R::be_quiet>>;
  using Step = Stages<Each<&R::drum>, Reduce<&R::beat_of, Sum, &R::set_tempo>, Each<&R::dance>,
                      Each<&R::applaud>, Each<&R::joke>>;
  using Observe =
      chain<Stages<ObserveAs<Dancer<Kind>, &R::observe_dancer>,
                   ObserveAs<Drummer<Kind>, &R::observe_drummer>,
                   ObserveAs<Clown, &R::observe_clown>, ObserveMaskAs<Clown, &R::mask_clown>>,
            typename Masks<Kind>::type>;
  static constexpr Card card{.doc = "dancers, drummers and a clown",
                             .max_episode_steps = 25,
                             .agents = "dancer_count + drummer_count + 1"};
};

using Builds =
    ge::Builds<Build<"Troupe-v0", Environment<Simple>>, Build<"Band-v0", Environment<Mixed>>>;

}  // namespace gpu_envs::envs::troupe
