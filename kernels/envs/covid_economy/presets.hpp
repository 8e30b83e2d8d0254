// From the data file, which covid_data.py makes of the JSON beside it, and from the
// settings to constants: in double precision, once per simulator, on the host.
#pragma once

#include "envs/covid_economy/constants.hpp"

namespace gpu_envs::envs::covid_economy {

/// The data file, front to back.
class DataFile {
 public:
  DataFile(std::span<const std::byte> bytes, AssetMaker& make) : bytes_(bytes), make_(make) {
    constexpr const char* kMagic = "GECOVID1";
    for (int k = 0; k < 8; ++k)
      if (whole(1) != uint64_t(uint8_t(kMagic[k]))) make_.refuse("covid_economy.bin is damaged");
    const uint64_t states = whole(4);
    rows = int(whole(4));
    const uint64_t first = whole(4);
    whole(4);
    if (states != kStates || first != kFirstRow || rows <= kFirstRow)
      make_.refuse("covid_economy.bin is of another layout");
  }
  uint64_t whole(int bytes) {
    if (at_ + size_t(bytes) > bytes_.size()) make_.refuse("covid_economy.bin is cut short");
    uint64_t value = 0;
    for (int k = 0; k < bytes; ++k) value |= uint64_t(bytes_[at_++]) << (8 * k);
    return value;
  }
  double number() { return __builtin_bit_cast(double, whole(8)); }
  void numbers(std::span<double> to) {
    for (double& value : to) value = number();
  }

  int rows;  // days of the history

 private:
  std::span<const std::byte> bytes_;
  AssetMaker& make_;
  size_t at_ = 0;
};

/// The numbers of the data file that enter the constants, as covid_data.py wrote them.
struct Numbers {
  double death_share, recovery, product_per_head, value_of_life;
  double planner_weight, planner_ends[4];  // health low, high; economy low, high
  double left[kResponses], tail[kResponses];
  double payments[3][2];  // row, dollars
  double people[kStates], slope[kStates], intercept[kStates], bias[kStates];
  double weight[kStates], ends[4][kStates];
  double susceptible[kStates], infected[kStates], recovered[kStates], unemployed[kStates];
  double weights[kStates * kResponses], responses[kStates * kResponses];

  explicit Numbers(DataFile& file) {
    death_share = file.number(), recovery = file.number();
    product_per_head = file.number(), value_of_life = file.number();
    planner_weight = file.number();
    file.numbers(planner_ends), file.numbers(left), file.numbers(tail);
    for (auto& payment : payments) file.numbers(payment);
    file.numbers(people), file.numbers(slope), file.numbers(intercept), file.numbers(bias);
    file.numbers(weight);
    for (auto& end : ends) file.numbers(end);
    file.numbers(susceptible), file.numbers(infected), file.numbers(recovered);
    file.numbers(unemployed), file.numbers(weights), file.numbers(responses);
  }
};

/// Towards zero, of what is not negative.
inline double whole_part(double x) {
  return double(int64_t(x));
}

/// What `most`, the product of a day, and the ends of both indices make of deaths and product.
/// `fitted`: the weight of health that the real policy showed, `priority` the user's factor for it.
inline Worth worth_of(const Settings& s, const Numbers& n, double most, double paid, double fitted,
                      double priority, const double (&ends)[4]) {
  const double odds = priority * (fitted / (1 - fitted)), alpha = odds / (1 + odds);
  const double health = alpha / (ends[1] - ends[0] + 1e-10) / double(s.reward_divisor);
  const double economy = (1 - alpha) / (ends[3] - ends[2] + 1e-10) / double(s.reward_divisor);
  return {float(1 / most), float(paid), float(-health * ends[0] - economy * ends[2]),
          float(health * n.value_of_life / (365 * most)), float(economy / 365)};
}

/// Product of a day, step 5 of it: of a worker, and of each state at level 1 for ever.
inline double product_of_worker(const Settings& s, const Numbers& n, double (&most)[kStates]) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  double people = 0, idle = 0;
  for (int i = 0; i < kStates; ++i) {
    people += n.people[i];
    most[i] = (kLog2 + n.bias[i]) * n.people[i] / 100;
    idle += most[i];
  }
  const double share = double(s.working_age_share);
  const double product = n.product_per_head / (whole_part(share * people - idle) / people) / 365;
  for (int i = 0; i < kStates; ++i) most[i] = (share * n.people[i] - most[i]) * product;
  return product;
}

/// Payments as levels of the subsidy: each spread over its days, payments of one day added up.
inline void fill_real_subsidy(const Settings& s, const Numbers& n, std::span<int32_t> days) {
  double people = 0;
  for (const double state : n.people) people += state;
  const double level =
      people * double(s.max_annual_subsidy) / s.subsidy_levels * s.subsidy_interval / 365;
  for (const auto& payment : n.payments) {
    const double levels = level > 0 ? payment[1] / level : 0;
    const int first = int(payment[0]) - kFirstRow + 1;
    for (int day = first; day < first + s.subsidy_interval && day < int(days.size()); ++day)
      days[size_t(day)] += int32_t(levels < 1e6 ? whole_part(levels + 0.5) : 1e6);
  }
}

inline Assets make_assets(const Settings& s, AssetMaker& make) {
  DataFile file(make.file("covid_economy.bin"), make);
  const Numbers n(file);
  const auto contagion = make.array<Contagion>("contagion", kStates);
  const auto jobs = make.array<Jobs>("jobs", kStates);
  const auto worth = make.array<Worth>("worth", kStates + 1);
  const auto first_day = make.array<FirstDay>("first_day", kStates);
  const auto nature = make.array<Nature>("nature", 1);

  double most[kStates], all_most = 0, all_paid = 0;
  const double product = product_of_worker(s, n, most);
  const double per_person = double(s.max_annual_subsidy) / 365 / s.subsidy_levels;
  for (int i = 0; i < kStates; ++i) {
    const auto k = size_t(i);
    const double people = n.people[i], share = double(s.working_age_share);
    const double doses =
        whole_part(s.vaccine_interval * (people / 1e6) * double(s.vaccines_per_million));
    contagion[k] = {float(1 / people), float(n.intercept[i]), float(n.slope[i]), float(doses)};
    jobs[k] = {{}, float(n.bias[i]), float(people / 100), float(share * people)};
    first_day[k] = {float(n.susceptible[i]),
                    float(n.infected[i]),
                    float(n.recovered[i]),
                    float(n.unemployed[i]),
                    {}};
    for (int j = 0; j < kResponses; ++j) {
      jobs[k].weights[j] = float(n.weights[i * kResponses + j]);
      first_day[k].responses[j] = float(n.responses[i * kResponses + j]);
    }
    const double ends[] = {n.ends[0][i], n.ends[1][i], n.ends[2][i], n.ends[3][i]};
    worth[k] = worth_of(s, n, most[i], per_person * people, n.weight[i],
                        double(s.health_priority_governors), ends);
    all_most += most[i], all_paid += per_person * people;
  }
  worth[kStates] = worth_of(s, n, all_most, all_paid, n.planner_weight,
                            double(s.health_priority_planner), n.planner_ends);
  nature[0] = {float(n.death_share),
               float(n.recovery),
               float(product),
               float(1 + double(s.interest_rate)),
               {},
               {}};
  for (int j = 0; j < kResponses; ++j)
    nature[0].left[j] = float(n.left[j]), nature[0].tail[j] = float(n.tail[j]);

  const auto history = make.array<uint8_t>("history", int64_t{file.rows} * kStates);
  for (size_t k = 0; k < history.size(); k += 2) {
    const uint64_t two = file.whole(1);
    history[k] = uint8_t(two & 15);
    if (k + 1 < history.size()) history[k + 1] = uint8_t(two >> 4);
  }
  const auto leaves = make.array<uint8_t>("leaves", kFirstRow + 1);
  for (int row = 1; row <= kFirstRow; ++row)
    for (int i = 0; i < kStates; ++i)
      leaves[size_t(row)] |=
          history[size_t(row * kStates + i)] != history[size_t((row - 1) * kStates + i)] ? 1 : 0;
  // Rules read the last day for every later one, so all payments must have ended by then.
  const int longest = std::max(kWindow, s.subsidy_interval + 2);
  const auto real_subsidy = make.array<int32_t>("real_subsidy", file.rows - kFirstRow + longest);
  fill_real_subsidy(s, n, real_subsidy);
  return {contagion, jobs, worth, first_day, nature, history, leaves, real_subsidy};
}

}  // namespace gpu_envs::envs::covid_economy
