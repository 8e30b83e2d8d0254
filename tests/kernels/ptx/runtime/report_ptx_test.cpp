// Counters as JSON, planted faults, settings.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ptx/runtime/loaded.hpp"
#include "ptx/runtime/report.hpp"
#include "ptx/runtime/runtime.hpp"

using namespace ge::test;

namespace {

using Words = std::vector<uint32_t>;

std::string report() {
  std::string text(ge_ptx_report(nullptr, 0), '\0');
  CHECK_EQ(ge_ptx_report(text.data(), text.size()), text.size());
  text.pop_back();
  return text;
}
/// What stands behind `begin` in a text, up to `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t at = text.find(begin);
  if (at == std::string::npos) return "no " + begin;
  return text.substr(at + begin.size(), text.find(end, at + begin.size()) - at - begin.size());
}
int number_of(const std::string& list, const std::string& name) {
  const size_t at = list.find('"' + name + '"');
  CHECK(at != std::string::npos);
  int number = 0;
  for (size_t k = 0; k < at; ++k) number += list[k] == ',' ? 1 : 0;
  return number;
}
/// Runs a kernel that writes its value, on one warp.
uint32_t written(LoadedObject& object, uint32_t value = 3) {
  const DeviceWords words(Words(32));
  CHECK_EQ(launch(object.kernel("store_value"), {}, words.at(), value), cudaSuccess);
  return words.values()[0];
}
struct Edits {
  ~Edits() { ge_ptx_clear_edits(); }
};

}  // namespace

GE_TEST(a_report_has_a_row_for_each_instruction_run_or_not) {
  ge_ptx_set("counts", 1);
  LoadedObject object(module(
      ".file 1 \"folder/rules.hpp\"\n" +
      entry("counted_kernel",
            "setp.ge.u32 %p1, %r2, 24;\n@%p1 bra skip;\n.loc 1 77 5\nst.global.u32 [%rd2], %r1;\n"
            "skip:\n") +
      entry("never_asked_for", "")));
  const DeviceWords words(Words(64));
  for (int k = 0; k < 2; ++k)
    CHECK_EQ(launch(object.kernel("counted_kernel"), {dim3(3), dim3(32)}, words.at(), 1u),
             cudaSuccess);
  ge_ptx_set("counts", 0);
  const std::string text = report();
  const std::string kernel = between(text, "{\"name\": \"counted_kernel\", ", "]]}]}");
  CHECK_EQ(between(kernel, "\"launches\": ", ","), "2");
  CHECK_EQ(between(kernel, "\"blocks\": ", ","), "6");
  CHECK_EQ(between(kernel, "\"threads\": ", ","), "192");
  CHECK_EQ(between(kernel, "\"registers\": ", ","), "64");
  // 6 warps of 24 lanes, whose 96 bytes are three sectors.
  const std::string opcodes = between(text, "\"opcodes\": [", "]"),
                    classes = between(text, "\"classes\": [", "]"),
                    files = between(text, "\"files\": [", "]");
  CHECK_EQ(number_of(files, "folder/rules.hpp"), 1);
  const std::string row = "," + std::to_string(number_of(opcodes, "st.global.u32")) + "," +
                          std::to_string(number_of(classes, "store_global")) + ",6,144,18,";
  CHECK(kernel.find(",1,77" + row) != std::string::npos);
  CHECK(kernel.find(std::to_string(number_of(opcodes, "bra")) + "," +
                    std::to_string(number_of(classes, "branch")) + ",6,") != std::string::npos);
  // The branch leads to the last row, which alone leads nowhere; from 1 on.
  std::vector<std::string> rows;
  for (size_t at = kernel.find("[[") + 1, end; (end = kernel.find(']', at)) < kernel.size();
       at = end + 2)
    rows.push_back(kernel.substr(at, end - at));
  rows.push_back(kernel.substr(kernel.rfind('[')));
  const std::string to_last = "," + std::to_string(rows.size()) + ",1";
  const auto leads = [&](const std::string& row) { return row.ends_with(to_last); };
  CHECK_EQ(std::count_if(rows.begin(), rows.end(), leads), 1);
  CHECK(rows.back().ends_with(",0,0"));
  // Unknown until it is asked for.
  CHECK_EQ(between(between(text, "{\"name\": \"never_asked_for\"", "]}"), "\"functions\": [", "]"),
           "");
  const uint64_t executed = ge_ptx_executed();
  CHECK(executed > 0);
  ge_ptx_set("counts", 1);
  CHECK_EQ(launch(object.kernel("counted_kernel"), {dim3(3), dim3(32)}, words.at(), 1u),
           cudaSuccess);
  ge_ptx_set("counts", 0);
  CHECK_EQ(ge_ptx_executed(), executed);  // nothing for the first time
  ge_ptx_clear_counts();
  CHECK_EQ(ge_ptx_executed(), 0u);
  const std::string cleared = between(report(), "{\"name\": \"counted_kernel\", ", "]]}]}");
  CHECK_EQ(between(cleared, "\"launches\": ", ","), "0");
  CHECK(cleared.find(",1,77," + std::to_string(number_of(opcodes, "st.global.u32")) + "," +
                     std::to_string(number_of(classes, "store_global")) + ",0,0,0,0,0,0,1]") !=
        std::string::npos);
}

GE_TEST(counters_outlive_their_object_and_are_written_to_a_file) {
  {
    LoadedObject object(module(store_entry("outlived")));
    CHECK_EQ(launch(object.kernel("outlived"), {dim3(1), dim3(1)}, DeviceWords(Words(1)).at(), 1u),
             cudaSuccess);
  }
  char path[] = "report_ptx_test_XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  CHECK_EQ(ge_ptx_write_report(path), 0);
  std::FILE* const written_file = std::fopen(path, "r");
  std::string text(1 << 20, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), written_file));
  std::fclose(written_file);
  std::remove(path);
  CHECK_EQ(text, report());
  CHECK_EQ(between(between(text, "{\"name\": \"outlived\", ", "]]}]}"), "\"launches\": ", ","),
           "1");
  CHECK_EQ(ge_ptx_write_report("no/such/folder/file"), -1);
}

GE_TEST(edits_change_ptx_before_it_is_read) {
  const std::string text =
      module(entry("store_value",
                   "add.s32 %r1, %r1, 10;\nadd.s32 %r1, %r1, 100;\nst.global.u32 [%rd2], %r1;\n"));
  const Edits edits;
  for (const int nth : {-1, 0, 1, 2}) {
    ge_ptx_clear_edits();
    CHECK_EQ(ge_ptx_edit("^add\\.s32( .*);$", "sub.s32$1;", nth), 0);
    LoadedObject object(text);
    const uint32_t found = written(object, 1000);
    CHECK_EQ(found, nth < 0 ? 890u : nth == 0 ? 1090u : nth == 1 ? 910u : 1110u);
    CHECK_EQ(ge_ptx_edited(), nth < 0 ? uint64_t{2} : nth == 2 ? uint64_t{0} : uint64_t{1});
  }
  CHECK_EQ(ge_ptx_edit("(", "", -1), -1);
}

GE_TEST(a_function_may_edit_and_what_was_read_is_read_again) {
  const Edits edits;
  LoadedObject object(module(store_entry()));
  CHECK_EQ(written(object), 3u);
  std::string other = module(entry("store_value", "st.global.u32 [%rd2], 8;\n"));
  ge_ptx_edit_with(
      [](const char* text, void* context) {
        const auto& made = *static_cast<std::string*>(context);
        return std::strstr(text, "store_value") != nullptr ? made.c_str() : nullptr;
      },
      &other);
  CHECK_EQ(written(object), 3u);
  ge_ptx_reload();
  CHECK_EQ(written(object), 8u);
  ge_ptx_edit_with(nullptr, nullptr);
  ge_ptx_reload();
  CHECK_EQ(written(object), 3u);
}

GE_TEST(calls_of_the_runtime_are_counted_by_name) {
  LoadedObject object(module(store_entry()));
  ge_ptx_clear_counts();
  CHECK_EQ(ge_ptx_calls("cudaMalloc"), uint64_t{0});
  CHECK_EQ(written(object), 3u);
  CHECK_EQ(ge_ptx_calls("cudaMalloc"), uint64_t{1});
  CHECK_EQ(ge_ptx_calls("cudaFree"), uint64_t{1});
  CHECK_EQ(ge_ptx_calls("cudaLaunchKernelExC"), uint64_t{1});
  CHECK_EQ(ge_ptx_calls("cudaStreamSynchronize"), uint64_t{0});
  for (int k = 0; k < 2; ++k) CHECK_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  CHECK_EQ(ge_ptx_calls("cudaStreamSynchronize"), uint64_t{2});
  std::string names(ge_ptx_called(nullptr, 0), '\0');
  CHECK_EQ(ge_ptx_called(names.data(), names.size()), names.size());
  CHECK(names.find("cudaLaunchKernelExC\n") != std::string::npos);
  CHECK(names.find("cudaEventRecord\n") == std::string::npos);
  ge_ptx_clear_counts();
  CHECK_EQ(ge_ptx_calls("cudaMalloc"), uint64_t{0});
}

GE_TEST(settings_are_known_by_name) {
  for (const char* const name : {"shuffle", "poison", "races", "counts", "limit", "registers",
                                 "memory", "shared", "multiprocessors"}) {
    const uint64_t before = ge_ptx_get(name);
    CHECK_EQ(ge_ptx_set(name, 1), 0);
    CHECK_EQ(ge_ptx_get(name), uint64_t{1});
    CHECK_EQ(ge_ptx_set(name, before), 0);
  }
  CHECK_EQ(ge_ptx_set("speed", 1), -1);
  // They reach the machine.
  ge_ptx_set("shuffle", 77);
  CHECK_EQ(ge::ptx::Runtime::get().machine.settings.shuffle, uint64_t{77});
  ge_ptx_set("shuffle", 0);
}
