// Which code of an object is taken, what is said where there is none, and its variables.
#include "ptx/runtime/loaded.hpp"
#include "ptx/runtime/registration.hpp"

using namespace ge::test;

namespace {

/// PTX whose kernel writes a number.
Part writing(uint32_t architecture, int number, bool is_compressed = false) {
  const std::string text =
      module(entry("write", "st.global.u32 [%rd1], " + std::to_string(number) + ";\n"),
             ("sm_" + std::to_string(architecture)).c_str());
  return {architecture, text, Part::ptx, is_compressed};
}
cudaError_t run(const std::vector<Part>& parts, uint32_t& found) {
  LoadedObject object(parts);
  const DeviceWords word({0});
  const cudaError_t code = launch(object.kernel("write"), {}, word.at(), 0u);
  found = word.values()[0];
  return code;
}

/// A cubin that says how many registers and bytes of stack two kernels have.
std::string cubin(uint32_t registers, uint32_t stack) {
  const std::string names("\0first\0second\0", 14);
  std::string symbols(24, '\0');
  for (const uint32_t name : {1u, 7u}) {
    put<uint32_t>(symbols, name);
    symbols.append(20, '\0');
  }
  std::string info;
  for (const uint32_t symbol : {1u, 2u}) {
    put<uint32_t>(info, 0x00501b03);  // the value of an attribute, not its bytes
    put<uint32_t>(info, 0x00082f04);
    put<uint32_t>(info, symbol), put<uint32_t>(info, registers + symbol);
    put<uint32_t>(info, 0x00081204);
    put<uint32_t>(info, symbol), put<uint32_t>(info, stack);
  }
  std::string file(
      "\x7f"
      "ELF",
      4);
  file.resize(64);
  std::string sections(64, '\0');
  const auto add = [&](uint32_t type, const std::string& contents, uint32_t link) {
    put<uint32_t>(sections, 0), put<uint32_t>(sections, type);
    put<uint64_t>(sections, 0), put<uint64_t>(sections, 0);
    put<uint64_t>(sections, file.size()), put<uint64_t>(sections, contents.size());
    put<uint32_t>(sections, link), put<uint32_t>(sections, 0);
    put<uint64_t>(sections, 0), put<uint64_t>(sections, 0);
    file += contents;
  };
  add(3, names, 0);
  add(2, symbols, 1);
  add(0x70000000, info, 2);
  const uint64_t at = file.size();
  const uint16_t sizes[] = {64, 4, 0};
  std::memcpy(file.data() + 40, &at, 8);
  std::memcpy(file.data() + 58, sizes, 6);
  return file + sections;
}
int registers_of(LoadedObject& object, const char* kernel) {
  cudaFuncAttributes found{};
  CHECK_EQ(cudaFuncGetAttributes(&found, object.kernel(kernel)), cudaSuccess);
  return found.numRegs;
}

}  // namespace

GE_TEST(the_highest_ptx_that_is_not_above_the_device_is_taken) {
  uint32_t found = 0;
  CHECK_EQ(run({writing(75, 75), writing(90, 90), writing(80, 80), writing(100, 100)}, found),
           cudaSuccess);
  CHECK_EQ(found, 90u);
  CHECK_EQ(run({writing(75, 75), writing(80, 80), writing(100, 100)}, found), cudaSuccess);
  CHECK_EQ(found, 80u);
  CHECK_EQ(run({writing(100, 100)}, found), cudaErrorNoKernelImageForDevice);
  // What is compressed is passed over.
  CHECK_EQ(run({writing(90, 90, true), writing(75, 75)}, found), cudaSuccess);
  CHECK_EQ(found, 75u);
}

GE_TEST(an_object_without_ptx_that_can_be_read_says_how_to_build_it) {
  for (const bool is_compressed : {true, false}) {
    const Part part =
        is_compressed ? writing(90, 90, true) : Part{90, cubin(10, 0), Part::machine_code};
    LoadedObject object({part});
    const cudaError_t code = launch(object.kernel("write"), {}, 0ull, 0u);
    CHECK_EQ(code, cudaErrorInvalidKernelImage);
    CHECK(says(code, "GPU_ENVS_CUDA_ARCHS=ptx"));
    CHECK(says(code, "--compress-mode=none"));
    CHECK_EQ(says(code, "it is compressed"), is_compressed);
    // And at every later launch.
    CHECK_EQ(launch(object.kernel("other"), {}, 0ull, 0u), cudaErrorInvalidKernelImage);
  }
}

GE_TEST(ptx_that_cannot_be_read_is_refused_with_its_line) {
  LoadedObject object(module(".visible .entry broken(\n"));
  const cudaError_t code = launch(object.kernel("broken"), {}, 0ull, 0u);
  CHECK_EQ(code, cudaErrorInvalidPtx);
  CHECK(says(code, "line"));
}

GE_TEST(functions_that_no_kernel_stands_behind_are_refused) {
  LoadedObject object(module(store_entry()));
  CHECK_EQ(launch(object.kernel("absent"), {}, 0ull, 0u), cudaErrorInvalidDeviceFunction);
  CHECK(says(cudaErrorInvalidDeviceFunction, "has no kernel absent"));
  const char nothing = 0;
  CHECK_EQ(launch(&nothing, {}, 0ull, 0u), cudaErrorInvalidDeviceFunction);
}

GE_TEST(a_kernel_of_an_object_that_was_unloaded_is_gone) {
  const void* kernel = nullptr;
  {
    LoadedObject object(module(store_entry()));
    kernel = object.kernel("store_value");
    const DeviceWords words(std::vector<uint32_t>(32));
    CHECK_EQ(launch(kernel, {}, words.at(), 3u), cudaSuccess);
  }
  CHECK_EQ(launch(kernel, {}, 0ull, 0u), cudaErrorInvalidDeviceFunction);
}

GE_TEST(registers_and_stack_come_from_machine_code_beside_the_ptx) {
  const std::string text = module(store_entry("first") + store_entry("second"));
  const auto with = [&](uint32_t architecture, const std::string& code) {
    return std::vector<Part>{{90, text}, {architecture, code, Part::machine_code}};
  };
  LoadedObject object(with(90, cubin(100, 16)));
  CHECK_EQ(registers_of(object, "first"), 101);
  CHECK_EQ(registers_of(object, "second"), 102);
  // Where there is none for this device, or none that can be read, as it is set.
  LoadedObject other(with(80, cubin(100, 16))), broken(with(90, cubin(100, 16).substr(0, 300))),
      neither(text);
  for (LoadedObject* const one : {&other, &broken, &neither})
    CHECK_EQ(registers_of(*one, "first"), 64);
  CHECK_EQ(ge_ptx_set("registers", 32), 0);
  CHECK_EQ(registers_of(neither, "first"), 32);
  ge_ptx_set("registers", 64);
}

GE_TEST(variables_have_their_values_and_take_others) {
  LoadedObject object(
      module(".global .align 4 .u32 counter = 7;\n"
             ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n" +
             entry("look",
                   "ld.global.u32 %r3, [counter];\nld.const.u32 %r4, [table+4];\n"
                   "mad.lo.s32 %r3, %r4, 100, %r3;\nst.global.u32 [%rd1], %r3;\n"
                   "st.global.u32 [counter], 9;\n")));
  const void* const counter = object.variable("counter", 4);
  const void* const table = object.variable("table", 8, true);
  const DeviceWords word({0});
  const auto kernel = object.kernel("look");
  CHECK_EQ(launch(kernel, {dim3(1), dim3(1)}, word.at(), 0u), cudaSuccess);
  CHECK_EQ(word.values()[0], 207u);
  uint32_t value = 0;
  CHECK_EQ(cudaMemcpyFromSymbol(&value, counter, 4), cudaSuccess);
  CHECK_EQ(value, 9u);
  value = 3;
  CHECK_EQ(cudaMemcpyToSymbol(table, &value, 4, 4), cudaSuccess);
  CHECK_EQ(launch(kernel, {dim3(1), dim3(1)}, word.at(), 0u), cudaSuccess);
  CHECK_EQ(word.values()[0], 309u);
  CHECK_EQ(cudaMemcpyToSymbol(table, &value, 4, 5), cudaErrorInvalidValue);
  CHECK(says(cudaErrorInvalidValue, "table has 8 bytes"));
  CHECK_EQ(cudaMemcpyToSymbol(&value, &value, 4), cudaErrorInvalidSymbol);
  void* at = nullptr;
  CHECK_EQ(cudaGetSymbolAddress(&at, table), cudaSuccess);
  cudaPointerAttributes attributes{};
  CHECK_EQ(cudaPointerGetAttributes(&attributes, at), cudaSuccess);
  CHECK_EQ(attributes.type, cudaMemoryTypeDevice);
}
