// Faulty: one small environment with a mistake planted in its step, a build per mistake. Only the
// executor that looks for mistakes runs them (planted_faults_*_test.cpp).
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::faulty {

using namespace ge;

enum class Mistake {
  none,
  write_race,
  order_dependence,
  dependent_test,
  dependent_destroy,
  unwritten_component,
  unwritten_row,
  ended_lifetime,
  unwritten_decision,
  outside_grant,
  writing_count,
  outside_table,
  small_table,
};

struct Choice {
  int32_t value;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("choice", &Choice::value, "ignored").one_of(2));
  }
};
struct Number {
  float value;
  static constexpr auto describe() {
    return fields(field("number", &Number::value, "each agent's own"));
  }
};
struct Memo {
  float value;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("memo", &Memo::value, "nobody writes it"));
  }
};
struct Total {
  float value;
  static constexpr auto describe() {
    return fields(field("total", &Total::value, "of all agents"));
  }
};
struct Note {
  int32_t index;
  static constexpr auto describe() {
    return fields(field("index", &Note::index, "of the hit").any_value());
  }
};
struct Draft {
  float value;
  static constexpr auto describe() {
    return fields(field("draft", &Draft::value, "written before the answer"));
  }
};
struct Answer {
  float value;
  static constexpr auto describe() {
    return fields(field("answer", &Answer::value, "in the memory of the draft"));
  }
};
struct Observation {
  float value;
  static constexpr auto describe() {
    return fields(field("value", &Observation::value, "the agent's number"));
  }
};

struct Group : Agents<4, Number, Memo, Choice> {
  static constexpr const char* name = "group";
};
struct Board : Single<Total> {
  static constexpr const char* name = "board";
};
struct Notes : List<2, Note> {
  static constexpr const char* name = "notes";
  static constexpr bool scratch = true;
};
struct Drafts : Fixed<2, Draft> {
  static constexpr const char* name = "drafts";
  static constexpr bool scratch = true;
  static constexpr int lifetime = 1;
};
struct Answers : Fixed<2, Answer> {
  static constexpr const char* name = "answers";
  static constexpr bool scratch = true;
  static constexpr int lifetime = 2;
};
struct Things : Pool<4, Note> {
  static constexpr const char* name = "things";
};
struct Schema {
  using Params = None;
  using Action = Choice;
  using Agent = Group;
  using tables = Types<Group, Board, Notes, Drafts, Answers, Things>;
};
using W = World<Schema>;

// ---- the mistakes

GE_FN void add_to_total(const W& w, const Number& number) {
  w.engine().store<Board, Total>(0, {get<Total>(w).value + number.value});
}
GE_FN void follow_neighbour(const W& w, Slot slot, Number& number) {
  number.value = 0.5f * number.value + get<Group, Number>(w, (slot.row + 1) % 4).value;
}
GE_FN bool is_first(const W& w, int) {
  return row_count<Notes>(w) == 0;
}
GE_FN void make_note(const W&, int i, Note& note) {
  note = {i};
}
GE_FN bool has_neighbour(const W& w, Slot slot, const Note&) {
  return get<Things, Note>(w, (slot.row + 1) % 4).index != 0;
}
GE_FN void add_memo(const W&, Number& number, const Memo& memo) {
  number.value = number.value + memo.value;
}
GE_FN void read_note(const W& w, Total& total) {
  total.value = float(get<Notes, Note>(w, 1).index);
}
GE_FN void write_draft(const W&, Draft& draft) {
  draft.value = 1.0f;
}
GE_FN void write_answer(const W&, Answer& answer) {
  answer.value = 2.0f;
}
GE_FN void read_draft(const W& w, Total& total) {
  total.value = get<Drafts, Draft>(w, 1).value;
}
GE_FN bool has_notes(const W& w) {
  return get<Notes, Note>(w, 0).index > 0;
}
GE_FN void reset_third(const W& w, Total& total) {
  total.value = 1.0f;
  w.engine().store<Group, Number>(2, {0.0f});
}
GE_FN int counting_twice(const W& w) {
  w.engine().store<Board, Total>(0, {get<Total>(w).value + 1.0f});
  return 1;
}
GE_FN float number_of(const W&, const Number& number) {
  return number.value;
}
GE_FN float number_after(const W& w, Slot slot, const Number&) {
  return get<Group, Number>(w, slot.row + 1).value;
}
GE_FN void store_total(const W&, float sum, Total& total) {
  total.value = sum;
}
GE_FN bool always(const W&, int) {
  return true;
}

template <Mistake kMistake>
struct Planted {
  using type = Stages<Reduce<&number_of, Sum, &store_total>>;
};
template <>
struct Planted<Mistake::write_race> {
  using type = Stages<Each<&add_to_total>>;
};
template <>
struct Planted<Mistake::order_dependence> {
  using type = Stages<Each<&follow_neighbour>>;
};
template <>
struct Planted<Mistake::dependent_test> {
  using type = Stages<Emit<3, &is_first, &make_note, Notes>>;
};
template <>
struct Planted<Mistake::dependent_destroy> {
  using type = Stages<Destroy<&has_neighbour, Things>>;
};
template <>
struct Planted<Mistake::unwritten_component> {
  using type = Stages<Each<&add_memo>>;
};
template <>
struct Planted<Mistake::unwritten_row> {
  using type = Stages<Emit<1, &always, &make_note, Notes>, EachWorld<&read_note>>;
};
template <>
struct Planted<Mistake::ended_lifetime> {
  using type = Stages<Each<&write_draft>, Each<&write_answer>, EachWorld<&read_draft>>;
};
template <>
struct Planted<Mistake::unwritten_decision> {
  using type = Stages<When<&has_notes, Reduce<&number_of, Sum, &store_total>>>;
};
template <>
struct Planted<Mistake::outside_grant> {
  using type = Stages<EachWorld<&reset_third>>;
};
template <>
struct Planted<Mistake::writing_count> {
  using type = Stages<For<&counting_twice, &make_note, Notes>>;
};
template <>
struct Planted<Mistake::outside_table> {
  using type = Stages<Reduce<&number_after, Sum, &store_total>>;
};
template <>
struct Planted<Mistake::small_table> {
  using type = Stages<Emit<3, &always, &make_note, Notes>>;
};

// ---- what is right

GE_FN void number_agents(const W&, Slot slot, Number& number) {
  number.value = 1.0f + float(slot.row);
}
GE_FN void clear_total(const W&, Total& total) {
  total = Total{};
}
GE_FN void make_thing(const W&, int k, Note& note) {
  note = {k + 1};
}
GE_FN void observe(const W&, Observation& row, const Number& number) {
  row.value = number.value;
}

template <Mistake kMistake>
struct Environment {
  using Schema = faulty::Schema;
  using Observation = faulty::Observation;
  using Reset =
      Stages<Each<&number_agents>, EachWorld<&clear_total>, Spawn<3, &make_thing, Things>>;
  using Step = typename Planted<kMistake>::type;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{
      .doc = "A mistake to be found.", .max_episode_steps = 10, .agents = "4"};
};

using Builds = ge::Builds<Build<"Faultless-v0", Environment<Mistake::none>>,
                          Build<"WriteRace-v0", Environment<Mistake::write_race>>,
                          Build<"OrderDependence-v0", Environment<Mistake::order_dependence>>,
                          Build<"DependentTest-v0", Environment<Mistake::dependent_test>>,
                          Build<"DependentDestroy-v0", Environment<Mistake::dependent_destroy>>,
                          Build<"UnwrittenComponent-v0", Environment<Mistake::unwritten_component>>,
                          Build<"UnwrittenRow-v0", Environment<Mistake::unwritten_row>>,
                          Build<"EndedLifetime-v0", Environment<Mistake::ended_lifetime>>,
                          Build<"UnwrittenDecision-v0", Environment<Mistake::unwritten_decision>>,
                          Build<"OutsideGrant-v0", Environment<Mistake::outside_grant>>,
                          Build<"WritingCount-v0", Environment<Mistake::writing_count>>,
                          Build<"OutsideTable-v0", Environment<Mistake::outside_table>>,
                          Build<"SmallTable-v0", Environment<Mistake::small_table>>>;

}  // namespace gpu_envs::envs::faulty
