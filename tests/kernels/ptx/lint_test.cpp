// The rules for PTX: each names a fault that was planted, and lets pass what it must.
#include "ptx/lint.hpp"

#include "test.hpp"

namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string entry(const std::string& body, const std::string& name = "step") {
  return ".visible .entry " + name +
         "(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n.reg .f64 "
         "%fd<8>;\n"
         ".reg .b64 %rd<8>;\n" +
         body + "}\n";
}
/// What the rules say of an entry: rule, function and text of each finding.
std::string said(const std::string& text) {
  std::string all;
  for (const auto& one : ge::ptx::findings_in(ge::ptx::read_module(kHead + text)))
    all += std::string(one.rule) + " " + one.function + " " + one.text + "\n";
  return all;
}
std::string of_body(const std::string& body) {
  return said(entry(body));
}

/// A function that nvcc has not inlined.
const std::string kHelper = ".func helper\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\nret;\n}\n";

}  // namespace

GE_TEST(a_kernel_without_faults) {
  CHECK_EQ(
      of_body("ld.param.u64 %rd1, [p];\nadd.rn.f32 %f1, %f2, %f3;\nmul.rn.f64 %fd1, %fd2, %fd3;\n"
              "div.rn.f32 %f1, %f2, %f3;\nsqrt.rn.f32 %f1, %f2;\nrcp.rn.f64 %fd1, %fd2;\n"
              "add.s32 %r1, %r2, %r3;\nmul.lo.s32 %r1, %r2, %r3;\nmad.lo.s32 %r1, %r2, %r3, %r4;\n"
              "min.f32 %f1, %f2, %f3;\nneg.f32 %f1, %f2;\nret;\n"),
      "");
}

GE_TEST(approximations) {
  CHECK_EQ(of_body("ex2.approx.f32 %f1, %f2;\nret;\n"), "approximate step ex2.approx.f32\n");
  CHECK_EQ(of_body("add.rn.ftz.f32 %f1, %f2, %f3;\nret;\n"), "approximate step add.rn.ftz.f32\n");
  CHECK_EQ(of_body("div.full.f32 %f1, %f2, %f3;\nret;\n"), "approximate step div.full.f32\n");
  CHECK_EQ(of_body("rsqrt.approx.ftz.f64 %fd1, %fd2;\nret;\n"),
           "approximate step rsqrt.approx.ftz.f64\n");
  CHECK_EQ(of_body("cvt.rn.ftz.f32.f64 %f1, %fd2;\nret;\n"),
           "approximate step cvt.rn.ftz.f32.f64\n");
}

GE_TEST(sums_that_may_be_contracted) {
  for (const char* const op : {"add.f32", "sub.f32", "mul.f32", "div.rz.f32", "sqrt.rz.f32",
                               "rcp.rp.f32", "add.rz.f32", "add.f16", "mul.bf16x2"})
    CHECK_EQ(of_body(std::string(op) + " %f1, %f2, %f3;\nret;\n"),
             "rounding step " + std::string(op) + "\n");
  CHECK_EQ(of_body("mul.f64 %fd1, %fd2, %fd3;\nret;\n"), "rounding step mul.f64\n");
}

GE_TEST(fused_products) {
  const std::string fma = "fma.rn.f32 %f1, %f2, %f3, %f4;\n", said_of_it = "fma step fma.rn.f32\n";
  CHECK_EQ(of_body(fma + "ret;\n"), said_of_it);
  CHECK_EQ(of_body("mad.rn.f64 %fd1, %fd2, %fd3, %fd4;\nret;\n"), "fma step mad.rn.f64\n");
  // ge::fma makes every NaN the same one.
  const std::string tests =
      "setp.nan.f32 %p1, %f1, %f1;\nselp.f32 %f5, 0f7FC00000, %f1, %p1;\nret;\n";
  CHECK_EQ(of_body(fma + tests), "");
  CHECK_EQ(of_body(fma + "st.f32 [%rd1], %f1;\nbra end;\nend:\n" + tests), said_of_it);
  CHECK_EQ(of_body(fma + "setp.nan.f32 %p1, %f2, %f2;\nret;\n"), said_of_it);
  // With line information its own line says it.
  const std::string files =
      ".file 1 \"kernels/engine/base/platform_numbers.hpp\"\n.file 2 \"envs/a.hpp\"\n";
  const std::string ours = ".loc 2 9 1\n.loc 1 45 3, function_name $L0, inlined_at 2 9 1\n";
  CHECK_EQ(said(entry(ours + fma + "ret;\n") + files), "");
  CHECK_EQ(said(entry(".loc 2 9 1\n" + fma + tests) + files), said_of_it);
}

GE_TEST(code_that_never_ends) {
  // What nvcc made of a rule that called a host function.
  CHECK_EQ(of_body("loop:\nbra.uni loop;\n"), "endless step bra.uni\n");
  CHECK_EQ(of_body("setp.eq.s32 %p1, %r1, 0;\n@%p1 bra lost;\nret;\nlost:\nadd.s32 %r1, %r1, "
                   "1;\nbra.uni lost;\n"),
           "endless step add.s32\n");
  CHECK_EQ(of_body("setp.eq.s32 %p1, %r1, 0;\n@%p1 bra lost;\nret;\nlost:\ntrap;\n"),
           "endless step trap\n");
  CHECK_EQ(of_body("ts: .branchtargets a, b;\nbrx.idx %r1, ts;\na:\nret;\nb:\nbra b;\n"),
           "endless step bra\n");
  // Loops that end, a guarded return, code that nobody reaches.
  CHECK_EQ(of_body("loop:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra loop;\nret;\n"),
           "");
  CHECK_EQ(of_body("loop:\n@%p1 ret;\nbra loop;\n"), "");
  CHECK_EQ(of_body("@!%p1 exit;\nloop:\n@%p2 bra out;\nbra loop;\nout:\nexit;\n"), "");
  CHECK_EQ(of_body("add.s32 %r1, %r1, 1;\nret;\nlost:\nbra lost;\n"), "");
}

GE_TEST(kernels_that_do_nothing) {
  CHECK_EQ(of_body("ret;\n"), "empty step it only returns\n");
  CHECK_EQ(of_body(""), "empty step it only returns\n");
  CHECK_EQ(said(".func nothing\n{\nret;\n}\n"), "");
}

GE_TEST(local_memory) {
  CHECK_EQ(
      of_body(".local .align 4 .b8 __local_depot0[24];\nmov.u64 %rd1, __local_depot0;\nret;\n"),
      "local step __local_depot0: 24 bytes\n");
  CHECK_EQ(of_body(".shared .align 4 .b8 room[24];\nmov.u32 %r1, room;\nret;\n"), "");
}

GE_TEST(calls_in_loops) {
  const std::string call = "call.uni helper;\n";
  CHECK_EQ(said(kHelper + entry(call + "ret;\n")), "");
  CHECK_EQ(said(kHelper + entry("loop:\n" + call + "@%p1 bra loop;\nret;\n")),
           "loop-call step helper\n");
  CHECK_EQ(
      said(kHelper +
           entry("loop:\n@%p1 bra loop;\n{\n.param .b32 a;\ncall.uni helper, (a);\n}\nret;\n")),
      "");
  CHECK_EQ(said(".func (.param .b32 r) again(.param .b32 a)\n{\n{\n.param .b32 a;\n.param .b32 b;\n"
                "call.uni (a), again, (b);\n}\nret;\n}\n"),
           "recursion again again\n");
  CHECK_EQ(said(".func one;\n.func two\n{\ncall.uni one;\nret;\n}\n.func one\n{\ncall.uni "
                "two;\nret;\n}\n"),
           "recursion two one\nrecursion one two\n");
}

GE_TEST(findings_say_where) {
  const std::string files = ".file 3 \"envs/a.hpp\"\n";
  const auto found = ge::ptx::findings_in(
      ge::ptx::read_module(kHead + entry(".loc 3 71 5\nadd.f32 %f1, %f2, %f3;\nret;\n") + files));
  CHECK_EQ(found.size(), size_t{1});
  CHECK_EQ(found[0].line, 12);
  CHECK_EQ(found[0].source, "envs/a.hpp:71");
  CHECK_EQ(std::string(ge_ptx_lint((kHead + entry("add.f32 %f1, %f2, %f3;\nret;\n")).c_str())),
           "module\t1\t13\nrounding\tstep\t11\t\tadd.f32\n");
  CHECK_EQ(std::string(ge_ptx_lint("what is this")),
           "unreadable\tPTX line 1: unknown directive at `what`\n");
}

GE_TEST(what_a_module_consists_of) {
  const std::string text =
      kHead + ".extern .func vprintf;\n" +
      entry(
          "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %envreg1;\nadd.s32 %r1, %r1, "
          "%r2;\n"
          "tanh.approx.f32 %f1, %f2;\ntanh.approx.f32 %f1, %f1;\nadd.cc.u32 %r1, %r1, %r2;\n"
          "call.uni vprintf;\nret;\n") +
      entry("mov.u32 %r1, %envreg1;\nret;\n", "other");
  const auto all = ge::ptx::inventory_of(text);
  CHECK_EQ(all.entries, 2);
  CHECK_EQ(all.opcodes.at("add.s32"), 1);
  CHECK_EQ(all.opcodes.at("tanh.approx.f32"), 2);
  CHECK_EQ(all.registers.at("%tid.x"), 2);
  CHECK_EQ(all.registers.at("%envreg1"), 2);
  CHECK_EQ(all.calls.at("vprintf"), 1);
  std::string unknown;
  for (const auto& one : all.unknown) unknown += one.function + ": " + one.text + "\n";
  CHECK(unknown.find("step: tanh.approx.f32: unknown opcode\n") == 0);
  CHECK(unknown.find("step: add.cc.u32: unknown modifier .cc\n") != std::string::npos);
  // Once, not in each kernel.
  CHECK(unknown.find("step: PTX line 14: mov.u32: unknown register %envreg1\n") !=
        std::string::npos);
  CHECK(unknown.find("other:") == std::string::npos);
  const std::string lines = ge_ptx_inventory(text.c_str());
  CHECK(lines.find("module\t2\t") == 0);
  CHECK(lines.find("\nregister\t%envreg1\t2\n") != std::string::npos);
  CHECK(lines.find("\ncall\tvprintf\t1\n") != std::string::npos);
  CHECK(lines.find("\nunknown\tstep\t") != std::string::npos);
}
