// A simulator on a GPU as its runtime sees it: what is loaded before a step, launched in which
// order and how, and what becomes of captures and of memory.
// environment: cartpole herd
#include "engine/cuda/device.hpp"
#include "engine/cuda/fake_runtime.hpp"
#include "engine/maths/sampling.hpp"
#include "engine/simulator/host.hpp"
#include "engine/simulator/machine.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

std::unique_ptr<Simulator> made(const std::string& id, Config config = {}) {
  if (config.worlds == 1) config.worlds = 5;
  return make_simulator(id, config);
}
std::unique_ptr<Simulator> herd(Schedule schedule) {
  Config config;
  config.schedule = schedule;
  return made("Herd-v0", config);
}
/// Addresses that nothing reads or writes: no kernel runs.
Bound everywhere(const Simulator& simulator, FinalRows final_rows = FinalRows::zero) {
  static char memory[1 << 20];
  Bound bound;
  bound.final_rows = final_rows;
  for (int o = 0; o < kOutputCount; ++o)
    bound.at[o] = simulator.output(Output(o)).exists ? memory : nullptr;
  return bound;
}
void reset(Simulator& simulator, std::vector<uint64_t> seeds, cudaStream_t stream = nullptr) {
  ResetRequest request;
  request.seeds = seeds;
  simulator.reset(request, everywhere(simulator), stream);
}
void step(Simulator& simulator, cudaStream_t stream = nullptr, Type type = Type::int64,
          FinalRows final_rows = FinalRows::zero, const uint8_t* stepped = nullptr) {
  static const int64_t actions[64] = {};
  simulator.step({actions, type, stepped}, everywhere(simulator, final_rows), stream);
}
std::vector<Call> launches() {
  return FakeRuntime::get().named("LaunchKernelExC");
}
std::vector<Call> launches_of(const std::function<void()>& call) {
  const size_t before = launches().size();
  call();
  auto all = launches();
  all.erase(all.begin(), all.begin() + int64_t(before));
  return all;
}

}  // namespace

GE_TEST(every_kernel_that_a_call_launches_was_loaded_with_the_simulator) {
  for (const Schedule schedule : {Schedule::group, Schedule::flat}) {
    FakeRuntime& fake = FakeRuntime::renew();
    const auto simulator = herd(schedule);
    const auto loaded = fake.loaded;
    reset(*simulator, {1});
    simulator->observe(everywhere(*simulator), nullptr);
    for (const Type type : {Type::uint8, Type::int32, Type::int64}) step(*simulator, nullptr, type);
    step(*simulator, nullptr, Type::int64, FinalRows::clear_ended);
    const uint8_t some[5] = {1, 0, 1};
    step(*simulator, nullptr, Type::int64, FinalRows::zero, some);
    int32_t drawn[1];
    simulator->sample_actions({nullptr, 1, 2, 0, 0}, drawn, nullptr);
    CHECK(launches().size() > 5);
    for (const Call& launch : launches()) CHECK(loaded.contains(launch.what));
  }
}

GE_TEST(nothing_is_left_on_the_default_stream_when_a_simulator_is_made) {
  for (const Schedule schedule : {Schedule::group, Schedule::flat}) {
    FakeRuntime& fake = FakeRuntime::renew();
    const auto simulator = herd(schedule);
    CHECK(!fake.named("Memset").empty());
    CHECK(!fake.is_legacy_busy);
  }
}

GE_TEST(simulators_are_made_used_and_closed_while_another_stream_is_captured) {
  for (const Schedule schedule : {Schedule::group, Schedule::flat}) {
    FakeRuntime& fake = FakeRuntime::renew();
    const auto graph = fake.begin_capture(fake.new_stream());
    {
      const auto simulator = herd(schedule);
      reset(*simulator, {1});
      reset(*simulator, {1, 2, 3, 4, 5});
      step(*simulator);
      simulator->faults();
      std::string record(size_t(simulator->record_bytes()), '\0');
      simulator->read_records(0, 1, record.data());
      simulator->write_records(0, 1, record.data());
      const int64_t from[1] = {0}, to[1] = {1};
      simulator->copy_worlds(from, to, true);
      simulator->release(simulator->allocate(100));
    }
    CHECK(graph->is_whole);
    CHECK(fake.memory.empty());
  }
}

GE_TEST(looks_into_the_worlds_are_refused_where_the_default_stream_is_captured) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto simulator = made("CartPole-v0");
  reset(*simulator, {1});
  std::string record(size_t(simulator->record_bytes()), '\0');
  const auto graph = fake.begin_capture(fake.new_stream(true));
  CHECK_THROWS(simulator->faults(), Error, "check() waits for the GPU");
  CHECK_THROWS(simulator->read_records(0, 1, record.data()), Error, "a look into the worlds waits");
  const int64_t from[1] = {0}, to[1] = {1};
  CHECK_THROWS(simulator->copy_worlds(from, to, false), Error, "copy_worlds() waits");
  CHECK(graph->is_whole);
}

GE_TEST(a_simulator_ends_without_waiting_for_the_device) {
  FakeRuntime& fake = FakeRuntime::renew();
  auto simulator = made("CartPole-v0");
  reset(*simulator, {1});
  step(*simulator);
  fake.calls.clear();
  simulator = nullptr;
  CHECK(fake.memory.empty());
  CHECK(fake.named("DeviceSynchronize").empty());
  CHECK(fake.named("StreamSynchronize").empty());
}

GE_TEST(an_error_of_a_lost_device_is_the_one_that_is_told) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto simulator = made("CartPole-v0");
  // Arrays are released while the exception is on its way.
  bool told = false;
  try {
    void* const memory = simulator->allocate(100);
    struct Array {
      Simulator& simulator;
      void* memory;
      ~Array() { simulator.release(memory); }
    } const array{*simulator, memory};
    fake.is_lost = true;
    reset(*simulator, {1});
  } catch (const Error& error) {
    told = std::string(error.what()).find("error 700") != std::string::npos;
  }
  CHECK(told);
  FakeRuntime::renew();
}

GE_TEST(one_seed_goes_with_the_launch_and_may_be_captured) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto simulator = made("CartPole-v0");
  const cudaStream_t stream = fake.new_stream();
  const auto graph = fake.begin_capture(stream);
  reset(*simulator, {7}, stream);
  CHECK(fake.named("MemcpyAsync").empty());
  CHECK(graph->is_whole);
}

GE_TEST(a_list_of_seeds_is_copied_eagerly_and_refused_in_a_capture) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto simulator = made("CartPole-v0");
  const cudaStream_t stream = fake.new_stream();
  reset(*simulator, {1, 2, 3, 4, 5}, stream);
  CHECK_EQ(fake.named("MemcpyAsync").size(), size_t{1});
  const auto graph = fake.begin_capture(stream);
  CHECK_THROWS(reset(*simulator, {1, 2, 3, 4, 5}, stream), Error,
               "seed: a list of seeds cannot be captured");
  CHECK(graph->is_whole);
  CHECK(graph->nodes.empty());
  fake.end_capture(graph);
  reset(*simulator, {}, stream);
}

GE_TEST(only_a_launch_behind_a_kernel_may_overlap_what_is_before_it) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto simulator = made("CartPole-v0");
  const cudaStream_t stream = fake.new_stream();
  const auto first_of = [&](const std::function<void()>& call) {
    return launches_of(call).front().dependent;
  };
  // Behind the zeroes of a reset.
  CHECK(!first_of([&] { reset(*simulator, {1}, stream); }));
  CHECK(!first_of([&] { simulator->observe(everywhere(*simulator), stream); }));
  // Eagerly the attribute speaks of the kernel before, whatever lies between.
  CHECK(first_of([&] { step(*simulator, stream); }));
  const auto graph = fake.begin_capture(stream);
  CHECK(!first_of([&] { step(*simulator, stream); }));
  CHECK(first_of([&] { step(*simulator, stream); }));
  char byte;
  cudaMemsetAsync(&byte, 0, 1, stream);
  CHECK(!first_of([&] { step(*simulator, stream); }));
  CHECK(graph->is_whole);
}

GE_TEST(jobs_behind_zeroes_or_a_sort_do_not_overlap_them) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto simulator = herd(Schedule::flat);
  reset(*simulator, {1});
  fake.calls.clear();
  step(*simulator);
  bool behind_kernel = false;
  int overlapping = 0;
  for (const Call& call : fake.calls) {
    if (call.name == "LaunchKernelExC") {
      if (call.dependent) CHECK(behind_kernel);
      overlapping += call.dependent;
      behind_kernel = true;
    } else if (call.name == "MemsetAsync" || call.name == "sort") {
      behind_kernel = false;
    }
  }
  CHECK(overlapping > 5);
}

GE_TEST(launches_overlap_where_the_kernels_were_compiled_to_wait) {
  struct Case {
    int ptx, binary;
    bool overlaps;
  };
  // The last is machine code alone that does not say which PTX it comes from.
  for (const Case& each :
       {Case{90, 90, true}, Case{80, 90, false}, Case{0, 90, true}, Case{0, 80, false}}) {
    FakeRuntime& fake = FakeRuntime::renew();
    fake.ptx_version = each.ptx, fake.binary_version = each.binary;
    const auto simulator = made("CartPole-v0");
    const std::string wanted = std::string("\"dependent\": ") + (each.overlaps ? "true" : "false");
    CHECK(simulator->instance().find(wanted) != std::string::npos);
  }
}

namespace {

constexpr int64_t kRows = 3000;  // of three blocks
using Drawn = std::vector<int32_t>;

void draw(Simulator& simulator, Drawn& to, cudaStream_t stream = nullptr) {
  simulator.sample_actions({nullptr, int64_t(to.size()), 1000, 5, 6}, to.data(), stream);
}
void teach_sampling() {
  using Kernel = void (*)(Sampling, cuda::DrawCount*, int32_t*);
  void* const kernel = const_cast<void*>(cuda::own_kernels()[3]);
  FakeRuntime::get().teach(reinterpret_cast<Kernel>(kernel));
}
/// Draws as a simulator in host memory makes them: by their number.
Drawn expected(uint32_t number) {
  Drawn all(kRows);
  const Sampling sampling{nullptr, kRows, 1000, 5, 6};
  for (int64_t row = 0; row < kRows; ++row) {
    const Draw words = sampling_draw(sampling, number, row);
    all[size_t(row)] = sampled_action(sampling, row, words.word[row % kSampledTogether]);
  }
  return all;
}

}  // namespace

GE_TEST(draws_are_numbered_by_call_as_on_the_host) {
  FakeRuntime::renew();
  teach_sampling();
  const auto simulator = made("CartPole-v0");
  Drawn drawn(kRows);
  for (uint32_t number = 0; number < 4; ++number) {
    draw(*simulator, drawn);
    CHECK(drawn == expected(number));
  }
}

GE_TEST(words_of_actions_are_drawn_side_by_side_as_on_the_host) {
  FakeRuntime::renew();
  teach_sampling();
  const auto simulator = made("CartPole-v0");
  constexpr int64_t kWords = 3, kFew = 700;
  Drawn drawn(kFew * kWords, -1), wanted = drawn;
  std::vector<int8_t> mask(kFew * 70);
  for (size_t k = 0; k < mask.size(); ++k) mask[k] = int8_t(k % 7 == 3 || k % 11 == 2);
  Sampling words[kWords] = {{nullptr, kFew, 0, 5, 6}, {mask.data(), kFew, 70, 5, 6}, {}};
  words[0].low = -2.0f, words[0].high = 0.5f;
  words[1].mask_stride = 70;
  words[2] = {nullptr, kFew, 9, 5, 6}, words[2].first = -4;
  for (int64_t word = 0; word < kWords; ++word) {
    words[word].stride = kWords;
    simulator->sample_actions(words[word], drawn.data() + word, nullptr);
    words[word].number = uint32_t(word);
    sample_on_host(words[word], wanted.data() + word, 2);
  }
  CHECK(drawn == wanted);
}

GE_TEST(every_replay_of_a_captured_draw_is_the_next_one) {
  FakeRuntime& fake = FakeRuntime::renew();
  teach_sampling();
  const auto simulator = made("CartPole-v0");
  const cudaStream_t stream = fake.new_stream();
  Drawn first(kRows), second(kRows);
  draw(*simulator, first);
  const auto graph = fake.begin_capture(stream);
  draw(*simulator, first, stream);
  draw(*simulator, second, stream);
  fake.end_capture(graph);
  for (uint32_t replay = 0; replay < 3; ++replay) {
    graph->replay();
    CHECK(first == expected(1 + 2 * replay));
    CHECK(second == expected(2 + 2 * replay));
  }
  draw(*simulator, first);
  CHECK(first == expected(7));
}

GE_TEST(worlds_that_fit_but_for_a_cache_are_refused_with_advice) {
  FakeRuntime& fake = FakeRuntime::renew();
  Config config;
  config.worlds = 1 << 20;
  fake.free_bytes = 1 << 20;
  const std::string advice = "torch.cuda.empty_cache()";
  CHECK_THROWS(made("CartPole-v0", config), Error, advice.c_str());
  // Nothing that could be emptied would help.
  fake.total_bytes = 1 << 20;
  try {
    made("CartPole-v0", config);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find(advice) == std::string::npos);
  }
}

GE_TEST(what_is_chosen_on_paper_is_what_a_simulator_launches) {
  // As many blocks as the fake runtime has.
  const PaperGpu paper{90, 132, 227 << 10, [](const KernelName&, int, int) { return 4; }};
  FakeRuntime::renew();
  for (const int64_t worlds : {5, 100'000}) {
    Config config;
    config.worlds = worlds;
    config.data_files = data_files();
    const std::string launched = make_simulator("CartPole-v0", config)->instance();
    std::string told;
    for (const Entry* entry : registry())
      if (const auto list = entry->list_launches("CartPole-v0", config))
        told = kernels_on_paper(*list, worlds, 0, paper);
    const auto number = [](const std::string& text, const char* key) {
      const std::string quoted = std::string("\"") + key + "\": ";
      const size_t at = text.find(quoted, text.find("\"phase\": \"step\""));
      CHECK(at != std::string::npos);
      return std::atoi(text.c_str() + at + quoted.size());
    };
    for (const char* const key : {"lanes", "threads", "shared_bytes", "resident_warps"})
      CHECK(number(told, key) == number(launched, key));
    CHECK(told.find("\"chosen\": true") != std::string::npos);
    // Few worlds go in the smallest blocks.
    CHECK(number(told, "threads") == (worlds == 5 ? 32 : 256));
  }
}
